# SPDX-License-Identifier: Apache-2.0
"""The tree is the robot: as pinocchio reads it where it reads it right, and with joints put in place of others."""

from functools import reduce
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from small_urdf import LIMIT, described, joint, link, robot, two_links

from humanoid_dynamics.errors import UrdfError
from humanoid_dynamics.model.description import Description
from humanoid_dynamics.model.load import load_robot

DATA = Path(__file__).resolve().parents[2] / "../shared/data/robots"
CMEEL = Path(pin.__file__).resolve().parents[4] / "share/example-robot-data/robots"
BROKEN = ("ur3.urdf",)  # holds an error page


def urdf_files():
    return sorted((*CMEEL.glob("**/*.urdf"), *DATA.glob("*.urdf")))


def frames(model, q):
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return {(frame.name, frame.type): data.oMf[i] for i, frame in enumerate(model.frames)}


def mass_matrix(model, q):
    M = np.triu(pin.crba(model, model.createData(), q))
    return M + np.triu(M, 1).T


def inertial(mass, com="0.1 -0.05 0.2"):
    entries = 'ixx="0.05" ixy="0.004" ixz="-0.003" iyy="0.06" iyz="0.002" izz="0.03"'
    return f'<inertial><origin xyz="{com}" rpy="0.3 -0.2 0.5"/><mass value="{mass}"/><inertia {entries}/></inertial>'


@pytest.mark.parametrize(
    "path", urdf_files() or [None], ids=lambda path: path.stem if path else "none"
)
def test_real_robots_are_as_pinocchio_reads_them(path):
    if path is None:
        pytest.skip(f"neither example-robot-data in {CMEEL} nor {DATA}")
    if path.name in BROKEN and "<robot" in path.read_text() and "<link" not in path.read_text():
        pytest.skip(f"{path.name} has no link")
    ours = load_robot(path, root="free_flyer", description=Description())
    theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    assert (ours.nq, ours.nv) == (theirs.nq, theirs.nv)
    assert list(ours.model.names) == list(theirs.names)
    assert ours.mass == pytest.approx(pin.computeTotalMass(theirs), rel=1e-12)
    rng = np.random.default_rng(7)
    q = pin.integrate(theirs, pin.neutral(theirs), rng.normal(size=theirs.nv))
    v, a = rng.normal(size=(2, theirs.nv))
    M = mass_matrix(theirs, q)
    np.testing.assert_allclose(mass_matrix(ours.model, q), M, rtol=0, atol=1e-12 * np.abs(M).max())
    tau = pin.rnea(theirs, theirs.createData(), q, v, a)
    np.testing.assert_allclose(
        pin.rnea(ours.model, ours.data(), q, v, a), tau, rtol=0, atol=1e-12 * np.abs(tau).max()
    )
    one, other = frames(ours.model, q), frames(theirs, q)
    assert other.keys() <= one.keys()
    for key, pose in other.items():
        np.testing.assert_allclose(one[key].homogeneous, pose.homogeneous, rtol=0, atol=1e-12)


def random_text(rng, count=12, kinds=("revolute", "continuous", "prismatic", "fixed", "floating")):
    """A random tree with names in no order at all."""
    parts = [link("l0", inertial(2.0))]
    for i in range(1, count):
        xyz, rpy = rng.normal(size=(2, 3))
        axis = rng.choice(np.eye(3)) if rng.random() < 0.5 else rng.normal(size=3)
        parts.append(link(f"l{i}", inertial(rng.uniform(0.1, 2.0)) if rng.random() < 0.8 else ""))
        origin = " ".join(map(str, xyz)) + '" rpy="' + " ".join(map(str, rpy))
        name = f"{rng.choice(list('abc'))}{rng.integers(10**6)}"
        parts.append(
            joint(
                name,
                f"l{rng.integers(i)}",
                f"l{i}",
                rng.choice(kinds),
                axis=" ".join(map(str, axis)),
                origin=origin,
            )
        )
    return robot(*rng.permutation(parts))


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_are_as_pinocchio_reads_them(seed):
    rng = np.random.default_rng(seed)
    text = random_text(rng)
    for root in ("fixed", "free_flyer"):
        theirs = (
            pin.buildModelFromXML(text)
            if root == "fixed"
            else pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
        )
        ours = load_robot(text, root=root).model
        assert list(ours.names) == list(theirs.names)
        q = pin.integrate(theirs, pin.neutral(theirs), rng.normal(size=theirs.nv))
        np.testing.assert_allclose(mass_matrix(ours, q), mass_matrix(theirs, q), rtol=0, atol=1e-11)
        for key, pose in frames(theirs, q).items():
            if key[1] == pin.FrameType.BODY:  # a continuous joint about an odd axis has z along it
                np.testing.assert_allclose(
                    frames(ours, q)[key].homogeneous, pose.homogeneous, rtol=0, atol=1e-12
                )


@pytest.mark.parametrize("axis", ["0 0 1", "0 1 0", "1 0 0", "0 0 -1", "1 2 -3"])
def test_planar_joint_moves_in_the_plane_of_its_normal(axis):
    found = load_robot(two_links(kind="planar", axis=axis, inside=""), root="fixed")
    assert found.coordinates == ("elbow.vx", "elbow.vy", "elbow.wz")
    neutral = frames(found.model, pin.neutral(found.model))["arm", pin.FrameType.BODY]
    np.testing.assert_allclose(
        neutral.homogeneous,
        pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])).homogeneous,
        rtol=0,
        atol=1e-15,
    )
    moved = frames(found.model, np.array([0.5, -0.7, np.cos(0.9), np.sin(0.9)]))[
        "arm", pin.FrameType.BODY
    ]
    normal = np.array(axis.split(), dtype=float)
    assert (moved.translation - neutral.translation) @ normal == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(moved.rotation @ normal, normal, rtol=0, atol=1e-14)


def test_planar_root_moves_in_x_and_z_and_pitches():
    found = load_robot(two_links(), root="planar")
    assert found.coordinates == ("root_joint.vx", "root_joint.vz", "root_joint.wy", "elbow")
    assert (found.joints[0].kind, found.joints[0].actuated, found.nq) == ("planar", False, 4)
    X_WB = frames(found.model, np.array([0.5, 0.7, 0.3, 0.0]))["base", pin.FrameType.BODY]
    np.testing.assert_allclose(X_WB.translation, [0.5, 0.0, 0.7])
    np.testing.assert_allclose(X_WB.rotation, pin.rpy.rpyToMatrix(0.0, 0.3, 0.0))


def test_fixed_root_does_not_move():
    found = load_robot(two_links(), root="fixed")
    assert (found.nv, found.coordinates, found.mass) == (1, ("elbow",), 1.0)
    assert found.joints[0].parent == "base"


def test_a_floating_joint_on_a_massless_root_is_the_free_root():
    text = robot(
        link("world", ""),
        link("pelvis"),
        link("arm"),
        joint("base", "world", "pelvis", "floating", ""),
        joint("e", "pelvis", "arm"),
    )
    found = load_robot(text)
    assert (found.root, found.nv, found.coordinates[0], found.joints[0].kind) == (
        "free_flyer",
        7,
        "base.vx",
        "free_flyer",
    )
    assert not found.joints[0].actuated
    assert load_robot(text, root="free_flyer").nv == 7
    assert found.inertialess == ()


# Spherical joints


def spherical_text(rng, axes, rotated):
    """An arm whose shoulder is three revolutes about one point, with a link below and something on the base beside it."""

    def origin(place, turn):
        return " ".join(map(str, place)) + '" rpy="' + " ".join(map(str, turn))

    turns = rng.normal(size=(3, 3)) if rotated else np.zeros((3, 3))
    shoulder = [
        joint("s1", "base", "m1", axis=axes[0], origin=origin((0.1, 0.2, 0.3), turns[0])),
        joint("s2", "m1", "m2", axis=axes[1], origin=origin((0, 0, 0), turns[1])),
        joint("s3", "m2", "arm", axis=axes[2], origin=origin((0, 0, 0), turns[2])),
    ]
    rest = [
        joint("elbow", "arm", "hand", axis="0 1 1", origin=origin((0.2, 0, -0.3), (0.1, 0.2, 0.3))),
        joint("a_tail", "base", "tail"),
    ]
    links = [
        link("base", inertial(3)),
        link("m1", ""),
        link("m2", ""),
        link("arm", inertial(2)),
        link("hand", inertial(1)),
        link("tail", inertial(0.5)),
    ]
    return robot(*links, *shoulder, *rest)


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize(
    "axes",
    [
        ("1 0 0", "0 1 0", "0 0 1"),
        ("0 0 1", "1 0 0", "0 1 0"),
        ("0 0 1", "1 0 0", "0 0 1"),
        ("1 0 0", "1 2 0", "0 0 -3"),
    ],
)
@pytest.mark.parametrize("root", ["fixed", "free_flyer"])
def test_three_revolutes_are_one_spherical_joint(axes, rotated, root):
    """Same kinetic energy, same momentum, same torque power, at configurations matched by the pose of the arm."""
    rng = np.random.default_rng(3)
    text = spherical_text(rng, axes, rotated)
    three = load_robot(text, root=root)
    one = load_robot(
        text.replace("</robot>", '<spherical name="shoulder" joints="s1 s2 s3"/></robot>'),
        root=root,
    )
    ball = one.joint("shoulder")
    assert (ball.kind, ball.parent, ball.child, one.nv) == ("spherical", "base", "arm", three.nv)
    assert ball.coordinates == ("shoulder.wx", "shoulder.wy", "shoulder.wz")
    assert one.coordinates[ball.v.stop :] == ("elbow",)
    assert one.model.check(one.data())
    for key, pose in frames(three.model, pin.neutral(three.model)).items():
        if key[0] not in {"s1", "s2", "s3"}:
            np.testing.assert_allclose(
                frames(one.model, pin.neutral(one.model))[key].homogeneous,
                pose.homogeneous,
                rtol=0,
                atol=1e-12,
            )
    for _ in range(5):
        q3 = pin.integrate(three.model, pin.neutral(three.model), rng.normal(size=three.nv))
        v3 = rng.normal(size=three.nv)
        q1, v1 = matched(three, one, q3, v3)
        for name in ("arm", "hand", "tail"):
            key = (name, pin.FrameType.BODY)
            np.testing.assert_allclose(
                frames(one.model, q1)[key].homogeneous,
                frames(three.model, q3)[key].homogeneous,
                rtol=0,
                atol=1e-12,
            )
        A = jacobian_between(three, one, q3, q1)
        np.testing.assert_allclose(
            A.T @ mass_matrix(one.model, q1) @ A, mass_matrix(three.model, q3), rtol=0, atol=1e-11
        )
        np.testing.assert_allclose(A @ v3, v1, rtol=0, atol=1e-11)
        h3, h1 = (
            pin.computeCentroidalMomentum(three.model, three.data(), q3, v3),
            pin.computeCentroidalMomentum(one.model, one.data(), q1, v1),
        )
        np.testing.assert_allclose(h1.vector, h3.vector, rtol=0, atol=1e-11)


def others(robot):
    return [joint for joint in robot.joints if joint.name not in {"shoulder", "s1", "s2", "s3"}]


def matched(three, one, q3, v3):
    """Return the configuration and velocity of the ball joint that put every link where the three revolutes have it."""
    q1, v1 = pin.neutral(one.model), np.zeros(one.nv)
    for joint_read in others(three):
        same = one.joint(joint_read.name)
        q1[same.q], v1[same.v] = q3[joint_read.q], v3[joint_read.v]
    ball = one.joint("shoulder")
    data = three.data()
    pin.framesForwardKinematics(three.model, data, q3)
    pin.computeJointJacobians(three.model, data, q3)
    X_Warm, X_Wbase = data.oMf[three.link_frame("arm")], data.oMf[three.link_frame("base")]
    R = one.model.jointPlacements[ball.index].rotation.T @ (X_Wbase.inverse() * X_Warm).rotation
    base_joint = one.model.parents[ball.index]
    assert base_joint == one.model.frames[one.link_frame("base")].parentJoint
    q1[ball.q] = pin.Quaternion(R).coeffs()
    v1[ball.v] = relative_turning(three, q3) @ v3
    return q1, v1


def relative_turning(three, q3):
    """Return the (3, nv) map from velocity to the turning of the arm against the base, in axes of the arm."""
    data = three.data()
    pin.computeJointJacobians(three.model, data, q3)
    pin.updateFramePlacements(three.model, data)
    J_arm, J_base = (
        pin.getFrameJacobian(three.model, data, three.link_frame(name), pin.ReferenceFrame.WORLD)[
            3:
        ]
        for name in ("arm", "base")
    )
    return data.oMf[three.link_frame("arm")].rotation.T @ (J_arm - J_base)


def jacobian_between(three, one, q3, q1):
    A = np.zeros((one.nv, three.nv))
    for joint_read in others(three):
        A[one.joint(joint_read.name).v, joint_read.v] = np.eye(
            joint_read.v.stop - joint_read.v.start
        )
    A[one.joint("shoulder").v] = relative_turning(three, q3)
    return A


def test_one_ball_below_another():
    def three(letter, *links):
        axes = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
        return [
            joint(f"{letter}{k}", *ends, axis=axes[k], origin="0 0 0")
            for k, ends in zip("xyz", pairwise(links), strict=True)
        ]

    middle = [link(name, "") for name in ("a1", "a2", "b1", "b2")]
    bodies = [link(name) for name in ("base", "upper", "lower")]
    text = robot(
        *middle,
        *bodies,
        *three("a", "base", "a1", "a2", "upper"),
        *three("b", "upper", "b1", "b2", "lower"),
    )
    groups = {"one": ["ax", "ay", "az"], "two": ["bx", "by", "bz"]}
    found = load_robot(text, description=described(spherical=groups))
    assert [item.name for item in found.joints] == ["root_joint", "one", "two"]
    assert [item.kind for item in found.joints] == ["free_flyer", "spherical", "spherical"]
    assert found.links == ("base", "a1", "a2", "upper", "b1", "b2", "lower")
    assert found.inertialess == ()


GROUP = '<spherical name="s" joints="{}"/></robot>'
REFUSED = {
    "two joints": (
        "s1 s2",
        "spherical joint 's': joints='s1 s2', expected the names of three joints",
    ),
    "one joint thrice": ("s1 s1 s1", "joints='s1 s1 s1', expected the names of three joints"),
    "unknown": (
        "s1 s2 nobody",
        "spherical joint 's': refers to joint 'nobody', which does not exist",
    ),
    "wrong order": ("s2 s1 s3", "joints 's2' and 's1' are not joined by one link"),
    "apart": ("s2 s3 elbow", "joints 's3' and 'elbow' do not turn about one point"),
    "heavy": ("s1 s2 s3", "link 'm1' between joints 's1' and 's2' has a mass"),
    "crowded": ("s1 s2 s3", "link 'm1' between joints 's1' and 's2' carries something else too"),
    "parallel": ("s1 s2 s3", "joints 's1' and 's2' turn about the same axis"),
    "sliding": (
        "s1 s2 s3",
        "spherical joint 's': refers to joint 's2', which is prismatic, expected revolute",
    ),
    "following": ("s1 s2 s3", "refers to joint 's2', which mimics 'elbow'"),
    "named as another": ("s1 s2 s3", "has the name of an existing joint"),
    "twice": (
        "s1 s2 s3",
        "spherical joint 't': refers to joint 's1', which is part of 's' already",
    ),
    "same name twice": ("s1 s2 s3", "spherical 's': is defined twice, first on line"),
    "without a name": ("s1 s2 s3", "<spherical>: has no name"),
}
BREAK = {
    "heavy": lambda text: text.replace('<link name="m1">', f'<link name="m1">{inertial(1)}'),
    "crowded": lambda text: text.replace(
        "</robot>", link("x") + joint("x", "m1", "x", "fixed") + "</robot>"
    ),
    "parallel": lambda text: text.replace('<axis xyz="0 1 0"/>', '<axis xyz="2 0 0"/>'),
    "sliding": lambda text: text.replace('name="s2" type="revolute"', 'name="s2" type="prismatic"'),
    "following": lambda text: text.replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><mimic joint="elbow"/>'
    ),
    "named as another": lambda text: text.replace('name="a_tail"', 'name="s"'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_spherical_joint(case):
    joints, words = REFUSED[case]
    text = spherical_text(np.random.default_rng(0), ("1 0 0", "0 1 0", "0 0 1"), False)
    text = BREAK.get(case, lambda text: text)(text).replace("</robot>", GROUP.format(joints))
    if case == "twice":
        text = text.replace("</robot>", '<spherical name="t" joints="s1 s2 s3"/></robot>')
    if case == "same name twice":
        text = text.replace("</robot>", GROUP.format(joints))
    if case == "without a name":
        text = text.replace('<spherical name="s"', "<spherical")
    with pytest.raises(UrdfError, match=words):
        load_robot(text)


def test_a_spherical_joint_may_have_the_name_of_its_first():
    text = spherical_text(np.random.default_rng(0), ("1 0 0", "0 1 0", "0 0 1"), False).replace(
        '"s1"', '"s"'
    )
    assert (
        load_robot(text.replace("</robot>", GROUP.format("s s2 s3"))).joint("s").kind == "spherical"
    )


# Single joints that are more than a URDF could say


SINGLE = [
    ("SPHERICAL", ("elbow.wx", "elbow.wy", "elbow.wz")),
    ("UJOINT_XY", ("elbow.x", "elbow.y")),
    ("UJOINT_ZX", ("elbow.z", "elbow.x")),
]


@pytest.mark.parametrize(("kind", "names"), SINGLE)
def test_single_joint_is_replaced(kind, names):
    text = two_links(origin='0.1 0.2 0.3" rpy="0.4 0.5 0.6')
    plain = load_robot(text)
    found = load_robot(text, description=described(joint_name=["elbow"], joint_type=[kind]))
    assert found.nv == 6 + len(names)
    assert found.joint("elbow").coordinates == names
    for key, pose in frames(plain.model, pin.neutral(plain.model)).items():
        np.testing.assert_allclose(
            frames(found.model, pin.neutral(found.model))[key].homogeneous,
            pose.homogeneous,
            rtol=0,
            atol=1e-12,
        )


def test_universal_joint_turns_about_its_axes_in_turn():
    found = load_robot(
        two_links(),
        root="fixed",
        description=described(joint_name=["elbow"], joint_type=["UJOINT_YX"]),
    )
    turned = frames(found.model, np.array([0.3, 0.4]))["arm", pin.FrameType.BODY].rotation
    np.testing.assert_allclose(
        turned, pin.rpy.rpyToMatrix(0, 0.3, 0) @ pin.rpy.rpyToMatrix(0.4, 0, 0), rtol=0, atol=1e-15
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("prismatic", "universal joint 'elbow': refers to joint 'elbow', which is prismatic"),
        ("fixed", "which is fixed"),
    ],
)
def test_what_cannot_be_replaced(kind, words):
    with pytest.raises(UrdfError, match=words):
        load_robot(
            two_links(kind=kind),
            description=described(joint_name=["elbow"], joint_type=["UJOINT_XY"]),
        )


@pytest.mark.parametrize(
    ("name", "nv", "motors", "loops"), [("digit_like_2legs", 54, 12, 6), ("cassie_like", 25, 5, 2)]
)
def test_parallel_robots_are_read_as_they_are(name, nv, motors, loops):
    if not (DATA / f"{name}.urdf").is_file():
        pytest.skip(f"no {DATA / name}.urdf")
    plain, found = (
        load_robot(DATA / f"{name}.urdf", description=Description()),
        load_robot(DATA / f"{name}.urdf"),
    )
    assert (found.nv, len(found.actuated), len(found.loops)) == (nv, motors, loops)
    assert found.model.check(found.data())
    for key, pose in frames(plain.model, pin.neutral(plain.model)).items():
        np.testing.assert_allclose(
            frames(found.model, pin.neutral(found.model))[key].homogeneous,
            pose.homogeneous,
            rtol=0,
            atol=1e-12,
        )
    assert found.mass == pytest.approx(plain.mass, rel=1e-12)
    for loop in found.loops:
        assert (loop.kind, loop.link_a in found.links, loop.link_b in found.links) == (
            "fixed",
            True,
            True,
        )


def test_inertias_are_summed_over_fixed_joints():
    text = robot(
        link("base", inertial(1)),
        link("a", inertial(2)),
        link("b", inertial(3)),
        joint("f", "base", "a", "fixed", ""),
        joint("g", "a", "b", "fixed", ""),
    )
    found = load_robot(text)
    X = pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3]))
    body = [pin.Inertia(mass, np.array([0.1, -0.05, 0.2]), np.eye(3)) for mass in (1.0, 2.0, 3.0)]
    R = pin.rpy.rpyToMatrix(0.3, -0.2, 0.5)
    for inertia in body:
        inertia.inertia = (
            R @ np.array([[0.05, 0.004, -0.003], [0.004, 0.06, 0.002], [-0.003, 0.002, 0.03]]) @ R.T
        )
    whole = reduce(lambda a, b: a + b, [body[0], X.act(body[1]), (X * X).act(body[2])])
    np.testing.assert_allclose(
        found.model.inertias[1].toDynamicParameters(),
        whole.toDynamicParameters(),
        rtol=0,
        atol=1e-14,
    )


def test_every_tree_is_asked_whether_it_is_depth_first(monkeypatch):
    monkeypatch.setattr(pin.Model, "check", lambda model, data: False)
    with pytest.raises(UrdfError, match="robot: the joints are not in depth-first order"):
        load_robot(two_links())


def test_limits_are_in_the_model_too():
    model = load_robot(two_links(LIMIT), description=described(armature={"elbow": 0.25})).model
    numbers = (
        model.lowerPositionLimit,
        model.upperPositionLimit,
        model.upperVelocityLimit,
        model.upperEffortLimit,
        model.armature,
    )
    assert [values[-1] for values in numbers] == [-1.0, 2.0, 3.0, 4.0, 0.25]
    assert (model.lowerVelocityLimit[-1], model.lowerEffortLimit[-1]) == (-3.0, -4.0)
