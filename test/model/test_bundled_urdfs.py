# SPDX-License-Identifier: Apache-2.0
"""The bundled robots as plain URDF, read by pinocchio and the standard library alone: nothing of the package is imported here."""

from __future__ import annotations

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
FIGURES = {"legs12": 12, "human16": 16, "human28": 28, "human40": 40}
FREEDOMS = {
    "biped7": 6,
    **FIGURES,
    "fourbar": 3,
    "fivebar": 4,
    "parallelogram": 3,
    "two_arms_bar": 6,
    "bennett": 3,
    "stewart": 21,
    "swing": 9,
    "rigid_swing": 1,
    "highbar": 0,
    "ropes": 8,
    "snake5": 7,
}
MOBILITY = {
    "fourbar": 1,
    "fivebar": 2,
    "parallelogram": 1,
    "two_arms_bar": 3,
    "bennett": 1,
    "stewart": 6,
    "swing": 6,
}
LOOP_RANK = {
    "fourbar": 2,
    "fivebar": 2,
    "parallelogram": 2,
    "two_arms_bar": 3,
    "bennett": 2,
    "stewart": 15,
    "swing": 3,
}
MASS = {
    **dict.fromkeys(["biped7", *FIGURES], 65.0),
    "rigid_swing": 6.0,
    "swing": 3.0,
    "ropes": 1.2,
    "stewart": 20.0,
    "snake5": 5.0,
}
STATURE = 1.70
SOLE_MIDDLE = 0.0646
MIRROR = np.diag([1.0, -1.0, 1.0])


def read_text(name):
    return (PROJECT / "urdf" / f"{name}.urdf").read_text(encoding="utf-8")


def read_yaml(name):
    return yaml.safe_load(
        (PROJECT / "config" / "robots" / f"{name}.yaml").read_text(encoding="utf-8")
    )


def build(name):
    description = read_yaml(name)
    floating = description["root"] != "fixed"
    model = (
        pin.buildModelFromXML(read_text(name), pin.JointModelFreeFlyer())
        if floating
        else pin.buildModelFromXML(read_text(name))
    )
    q = pin.neutral(model)
    for joint, value in description.get("posture", {}).items():
        assert model.existJointName(joint), joint
        put(model, q, joint, value)
    return model, model.createData(), q


def put(model, q, name, value):
    joint = model.joints[model.getJointId(name)]
    q[joint.idx_q : joint.idx_q + joint.nq] = (
        [np.cos(value), np.sin(value)] if joint.nq == 2 else value
    )


def coordinate(model, name):
    return model.joints[model.getJointId(name)].idx_v


def inertials(name):
    found = {}
    for link in ET.fromstring(read_text(name)).findall("link"):
        inertial = link.find("inertial")
        if inertial is not None:
            assert "rpy" not in inertial.find("origin").attrib
            entry = {key: float(value) for key, value in inertial.find("inertia").attrib.items()}
            tensor = np.array([[entry["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
            com = np.array([float(value) for value in inertial.find("origin").get("xyz").split()])
            found[link.get("name")] = (float(inertial.find("mass").get("value")), com, tensor)
    return found


def place(model, data, frame):
    X_LF = pin.SE3(
        pin.rpy.rpyToMatrix(*(float(angle) for angle in frame["rpy"])),
        np.array(frame["xyz"], dtype=float),
    )
    return data.oMf[model.getFrameId(frame["link"], pin.BODY)] * X_LF


def loop_rows(model, data, q, loop):
    """Rows of the relative motion of B against A in the axes of A that the kind forbids, by columns of A and B at one point."""
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    jacobians = []
    for side in ("a", "b"):
        frame = loop[side]
        X_WF = place(model, data, frame)
        body = pin.getFrameJacobian(
            model, data, model.getFrameId(frame["link"], pin.BODY), pin.WORLD
        )
        jacobians.append(X_WF.toActionMatrixInverse() @ body)
    X_AB = place(model, data, loop["a"]).actInv(place(model, data, loop["b"]))
    rows = jacobians[0] - X_AB.toActionMatrix() @ jacobians[1]
    return rows[{"fixed": range(6), "revolute": range(5), "spherical": range(3)}[loop["kind"]]]


def closing_rows(name, model, data, q):
    return np.vstack(
        [loop_rows(model, data, q, loop) for loop in read_yaml(name)["loops"].values()]
    )


def motions(J):
    _, sizes, V = np.linalg.svd(J)
    rank = int(np.sum(sizes > 1e-9 * sizes[0]))
    return rank, V[rank:].T


def motor_torque(name, motors):
    """Torques of as many motors as there are motions that hold the mechanism up in its posture, and the torque per motion of motor."""
    model, data, q = build(name)
    gravity = pin.computeGeneralizedGravity(model, data, q)
    _, Gamma = motions(closing_rows(name, model, data, q))
    chosen = [coordinate(model, motor) for motor in motors]
    return np.linalg.solve(Gamma[chosen].T, Gamma.T @ gravity)


@pytest.fixture(params=sorted(FREEDOMS))
def name(request):
    return request.param


@pytest.fixture(params=sorted(FIGURES))
def figure(request):
    return request.param


def test_there_are_no_other_files():
    assert {path.stem for path in (PROJECT / "urdf").glob("*.urdf")} == set(FREEDOMS)
    assert set(FREEDOMS) <= {path.stem for path in (PROJECT / "config" / "robots").glob("*.yaml")}


# the tree


def test_freedoms(name):
    model = pin.buildModelFromXML(read_text(name))
    assert model.nv == FREEDOMS[name]
    assert model.name == name


def test_pinocchio_accepts_the_tree_and_it_is_depth_first(name):
    model, data, _ = build(name)
    assert model.check(data)
    for joint in range(1, model.njoints):
        subtree = list(model.subtrees[joint])
        assert subtree == list(range(joint, joint + len(subtree)))


def test_links_appear_after_their_parents_in_the_file(name):
    root = ET.fromstring(read_text(name))
    links = [link.get("name") for link in root.findall("link")]
    assert len(set(links)) == len(links)
    for joint in root.findall("joint"):
        assert links.index(joint.find("parent").get("link")) < links.index(
            joint.find("child").get("link")
        )


def test_every_joint_has_limits_a_motor_can_have(name):
    for joint in ET.fromstring(read_text(name)).findall("joint"):
        if joint.get("type") == "fixed":
            continue
        limit = joint.find("limit")
        assert float(limit.get("velocity")) > 0
        passive = joint.get("name") in read_yaml(name).get("passive", [])
        assert float(limit.get("effort")) > 0 or passive
        if joint.get("type") != "continuous":
            assert float(limit.get("lower")) < float(limit.get("upper"))


def test_ball_joints_are_three_revolutes_in_one_point(name):
    root = ET.fromstring(read_text(name))
    joints = {joint.get("name"): joint for joint in root.findall("joint")}
    massive = inertials(name)
    for ball in root.findall("spherical"):
        members = [joints[member] for member in ball.get("joints").split()]
        assert [member.get("name") for member in members] == [
            f"{ball.get('name')}_{axis}" for axis in "xyz"
        ]
        assert [member.get("type") for member in members] == ["revolute"] * 3
        assert [member.find("axis").get("xyz") for member in members] == ["1 0 0", "0 1 0", "0 0 1"]
        for above, below in pairwise(members):
            assert below.find("parent").get("link") == above.find("child").get("link")
            assert below.find("origin").get("xyz") == "0 0 0"
            assert above.find("child").get("link") not in massive
        assert not any(member.find("origin").get("rpy") for member in members)


@pytest.mark.parametrize(
    ("name", "balls"),
    [("human16", 4), ("human40", 12), ("swing", 3), ("ropes", 2), ("stewart", 1), ("human28", 0)],
)
def test_number_of_ball_joints(name, balls):
    assert len(ET.fromstring(read_text(name)).findall("spherical")) == balls


def test_human40_has_17_bodies_and_16_joints():
    root = ET.fromstring(read_text("human40"))
    assert len(inertials("human40")) == 17
    assert len(root.findall("joint")) - 2 * len(root.findall("spherical")) == 16


# masses


def test_inertias_are_those_of_bodies(name):
    for link, (mass, _, tensor) in inertials(name).items():
        moments = np.linalg.eigvalsh(tensor)
        assert mass > 0, link
        assert moments[0] > 0, link
        assert moments[2] < (1 - 1e-6) * (moments[0] + moments[1]), link


@pytest.mark.parametrize("name", sorted(MASS))
def test_mass_sums(name):
    model, _, _ = build(name)
    assert sum(inertia.mass for inertia in model.inertias) == pytest.approx(MASS[name], abs=1e-9)


@pytest.mark.parametrize("name", sorted(set(FREEDOMS) - {"stewart", "highbar"}))
def test_every_motion_carries_inertia(name):
    model, data, q = build(name)
    M = np.triu(pin.crba(model, data, q))
    M = M + np.triu(M, 1).T
    assert np.linalg.eigvalsh(M)[0] > 1e-9 * np.linalg.eigvalsh(M)[-1]


def test_figures_are_mirror_images(figure):
    bodies = inertials(figure)
    pairs = [link for link in bodies if link.startswith("left_")]
    assert pairs
    for left in pairs:
        mass, com, tensor = bodies[left]
        other = bodies[left.replace("left_", "right_")]
        assert other[0] == mass
        np.testing.assert_array_equal(other[1], MIRROR @ com)
        np.testing.assert_array_equal(other[2], MIRROR @ tensor @ MIRROR)
    for middle in set(bodies) - set(pairs) - {link.replace("left_", "right_") for link in pairs}:
        np.testing.assert_allclose(MIRROR @ bodies[middle][1], bodies[middle][1], atol=1e-15)
        np.testing.assert_allclose(
            MIRROR @ bodies[middle][2] @ MIRROR, bodies[middle][2], atol=1e-15
        )


def test_mirrored_joints_move_in_mirrored_ranges(figure):
    model, _, _ = build(figure)
    rng = np.random.default_rng(3)
    q, mirrored = pin.neutral(model), pin.neutral(model)
    for k, joint in enumerate(model.names[2:], start=2):
        lower, upper = (
            limit[model.joints[k].idx_q]
            for limit in (model.lowerPositionLimit, model.upperPositionLimit)
        )
        value = rng.uniform(lower, upper)
        about_y = joint.endswith(("pitch", "_y", "knee", "elbow"))
        twin = joint.replace("left_", "#").replace("right_", "left_").replace("#", "right_")
        image = value if about_y else -value
        put(model, q, joint, value)
        put(model, mirrored, twin, image)
        index = model.joints[model.getJointId(twin)].idx_q
        assert (
            model.lowerPositionLimit[index] - 1e-12
            <= image
            <= model.upperPositionLimit[index] + 1e-12
        )
    data, twin_data = model.createData(), model.createData()
    np.testing.assert_allclose(
        pin.centerOfMass(model, twin_data, mirrored),
        MIRROR @ pin.centerOfMass(model, data, q),
        atol=1e-12,
    )


# figures as people


def test_zero_pose_is_a_person_who_looks_along_x_with_hanging_arms(figure):
    model, data, _ = build(figure)
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    points = {
        key: point | {"rpy": [0, 0, 0]}
        for key, point in read_yaml(figure)["control_points"].items()
    }
    at = {key: place(model, data, point).translation for key, point in points.items()}
    ground = at["left_toe"][2]
    assert at["pelvis"][2] - ground == pytest.approx(0.530 * STATURE, abs=1e-12)
    assert at["chest"][2] - ground == pytest.approx(0.818 * STATURE, abs=1e-12)
    assert 0.85 * STATURE < at["neck"][2] - ground < at["head"][2] - ground < STATURE
    assert at["left_toe"][0] > at["left_ankle"][0]
    assert at["left_knee"][1] > 0 > at["right_knee"][1]
    for frame in data.oMf:
        np.testing.assert_array_equal(frame.rotation, np.eye(3))
    if "left_hand" in at:
        assert at["left_hand"][2] < at["left_elbow"][2] < at["chest"][2]


@pytest.mark.parametrize("name", ["biped7", *FIGURES])
def test_half_sitting_on_flat_soles(name):
    model, data, q = build(name)
    com = pin.centerOfMass(model, data, q)
    pin.framesForwardKinematics(model, data, q)
    soles = [
        place(model, data, read_yaml(name)["surfaces"][f"{side}_foot"])
        for side in ("left", "right")
    ]
    assert soles[0].translation[2] == pytest.approx(soles[1].translation[2], abs=1e-12)
    for sole in soles:
        np.testing.assert_allclose(sole.rotation, np.eye(3), atol=1e-12)
    assert com[1] == pytest.approx(0, abs=1e-12)
    ahead = com[0] - soles[0].translation[0]
    if name == "human16":
        assert -0.5 * SOLE_MIDDLE < ahead < SOLE_MIDDLE
    else:
        assert ahead == pytest.approx(SOLE_MIDDLE, abs=1e-6)


def test_posture_is_within_the_limits(name):
    model, _, q = build(name)
    bounded = np.array(
        [joint.nq == 1 for joint in model.joints[1:] for _ in range(joint.nq)], dtype=bool
    )
    assert np.all(q[bounded] >= model.lowerPositionLimit[bounded])
    assert np.all(q[bounded] <= model.upperPositionLimit[bounded])


def test_every_body_can_be_seen_and_touched(name):
    bodies = inertials(name)
    for link in ET.fromstring(read_text(name)).findall("link"):
        if link.get("name") in bodies and not link.get("name").endswith(
            "_link"
        ):  # a link between two hinges hides inside the limb
            assert link.findall("visual")
            assert len(link.findall("collision")) == len(link.findall("visual"))


# what the YAML adds


def test_yaml_names_what_exists(name):
    root, description = ET.fromstring(read_text(name)), read_yaml(name)
    links = {link.get("name") for link in root.findall("link")}
    joints = {joint.get("name") for joint in root.findall("joint")}
    known = {
        "urdf",
        "root",
        "surfaces",
        "control_points",
        "posture",
        "passive",
        "loops",
        "wheels",
        "aliases",
    }
    assert set(description) <= known
    assert description["urdf"] == f"{name}.urdf"
    assert description["root"] in {"free_flyer", "fixed", "planar"}
    assert set(description.get("posture", {})) | set(description.get("passive", [])) <= joints
    assert set(description.get("aliases", {}).values()) <= links
    placed = [
        entry
        for key in ("surfaces", "control_points", "wheels")
        for entry in description.get(key, {}).values()
    ]
    placed += [loop[side] for loop in description.get("loops", {}).values() for side in ("a", "b")]
    assert {entry["link"] for entry in placed} <= links


def test_surfaces_are_convex_and_counter_clockwise(name):
    for surface in read_yaml(name).get("surfaces", {}).values():
        corners = np.array(surface["polygon"], dtype=float)
        edges = np.roll(corners, -1, axis=0) - corners
        turns = np.cross(
            np.c_[edges, np.zeros(len(edges))],
            np.c_[np.roll(edges, -1, axis=0), np.zeros(len(edges))],
        )[:, 2]
        assert len(corners) == 2 or np.all(turns > 0)


@pytest.mark.parametrize("figure", ["human16", "human28", "human40"])
def test_palms_face_each_other(figure):
    model, data, _ = build(figure)
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        palm = place(model, data, read_yaml(figure)["surfaces"][f"{side}_palm"])
        np.testing.assert_allclose(palm.rotation[:, 2], [0, sign, 0], atol=1e-12)


# loops


@pytest.mark.parametrize("name", sorted(MOBILITY))
def test_loops_are_closed_in_the_posture(name):
    model, data, q = build(name)
    pin.framesForwardKinematics(model, data, q)
    for loop in read_yaml(name)["loops"].values():
        gap = place(model, data, loop["a"]).actInv(place(model, data, loop["b"]))
        np.testing.assert_allclose(gap.translation, 0, atol=1e-12)
        if loop["kind"] == "revolute":
            np.testing.assert_allclose(gap.rotation[:, 2], [0, 0, 1], atol=1e-12)
        if loop["kind"] == "fixed":
            np.testing.assert_allclose(gap.rotation, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("name", sorted(MOBILITY))
def test_mobility(name):
    model, data, q = build(name)
    rank, Gamma = motions(closing_rows(name, model, data, q))
    assert rank == LOOP_RANK[name]
    assert Gamma.shape[1] == MOBILITY[name]


def test_flat_parallelogram_gains_a_freedom():
    model, data, q = build("parallelogram")
    for joint in ("crank_joint", "coupler_joint", "rocker_joint"):
        put(model, q, joint, 0.0)
    rank, Gamma = motions(closing_rows("parallelogram", model, data, q))
    assert (rank, Gamma.shape[1]) == (1, 2)


def test_parallelogram_keeps_its_coupler_parallel():
    model, data, q = build("parallelogram")
    _, Gamma = motions(closing_rows("parallelogram", model, data, q))
    np.testing.assert_allclose(Gamma[:, 0] / Gamma[0, 0], [1, -1, 1], atol=1e-12)


def test_bennett_closed_form():
    """tan(theta1/2) tan(theta2/2) is the same in every pose, 2.239764113511749 for these twists."""
    posture = read_yaml("bennett")["posture"]
    assert np.tan(posture["joint1"] / 2) * np.tan(posture["joint2"] / 2) == pytest.approx(
        2.239764113511749, rel=1e-12
    )


def test_bennett_cut_joint_makes_rank_three():
    """With its cut joint as a fourth column the six rows have rank 3, singular values about the axis of the first joint."""
    model, data, q = build("bennett")
    pin.computeJointJacobians(model, data, q)
    loop = read_yaml("bennett")["loops"]["joint4"]
    pin.framesForwardKinematics(model, data, q)
    tree = pin.getJointJacobian(model, data, 3, pin.WORLD)
    axis = place(model, data, loop["a"])
    cut = axis.toActionMatrix()[:, 5]
    sizes = np.linalg.svd(np.c_[tree, cut], compute_uv=False)
    np.testing.assert_allclose(sizes[:3], [1.679, 1.209, 0.460], atol=5e-4)
    assert sizes[3] < 1e-8


# statics against closed forms, tree torques by joint name


@pytest.mark.parametrize(
    ("name", "torques"),
    [
        (
            "fourbar",
            {
                "crank_joint": 2.066295702979,
                "coupler_joint": 1.330545702979,
                "rocker_joint": 0.250413085816,
            },
        ),
        (
            "fivebar",
            {
                "left_motor": -0.514470460891,
                "left_elbow": 0.515579539109,
                "right_motor": 0.110158915922,
                "right_elbow": -0.594436781343,
            },
        ),
    ],
)
def test_gravity_torques_of_the_tree(name, torques):
    model, data, q = build(name)
    gravity = pin.rnea(model, data, q, np.zeros(model.nv), np.zeros(model.nv))
    for joint, torque in torques.items():
        assert gravity[coordinate(model, joint)] == pytest.approx(torque, abs=1e-11)


def test_motor_torques_of_planar_mechanisms():
    np.testing.assert_allclose(
        motor_torque("fourbar", ["crank_joint"]), [0.646456524678], atol=1e-11
    )
    np.testing.assert_allclose(
        motor_torque("fivebar", ["left_motor", "right_motor"]),
        [-1.503141807073, 1.150015879612],
        atol=1e-11,
    )
    np.testing.assert_allclose(
        motor_torque("fivebar", ["left_elbow", "right_elbow"]),
        [1.163261821925, -0.312687156337],
        atol=1e-11,
    )
    left = ["left_shoulder", "left_elbow", "left_wrist"]
    np.testing.assert_allclose(
        motor_torque("two_arms_bar", left), [12.8041491277, 18.0178721644, 4.6400661608], atol=1e-9
    )


def test_smallest_torques_of_two_arms():
    model, data, q = build("two_arms_bar")
    _, Gamma = motions(closing_rows("two_arms_bar", model, data, q))
    gravity = pin.computeGeneralizedGravity(model, data, q)
    tau = Gamma @ (Gamma.T @ gravity)
    expected = [
        -0.4376394314,
        3.2957055378,
        -2.7449878925,
        1.2707981704,
        -3.7543778544,
        2.5966578978,
    ]
    joints = [
        f"{side}_{joint}" for side in ("left", "right") for joint in ("shoulder", "elbow", "wrist")
    ]
    np.testing.assert_allclose(
        [tau[coordinate(model, joint)] for joint in joints], expected, atol=1e-9
    )


def test_leg_forces_of_the_stewart_platform():
    forces = motor_torque("stewart", [f"leg{k}_length" for k in range(6)])
    np.testing.assert_allclose(
        forces,
        [38.99320455, 32.46368136, 29.29553701, 54.37637621, 20.47747303, 48.87910973],
        atol=1e-7,
    )


def test_stewart_platform_stands_where_it_should():
    model, data, q = build("stewart")
    pin.framesForwardKinematics(model, data, q)
    middle = place(
        model, data, read_yaml("stewart")["control_points"]["platform_middle"] | {"rpy": [0, 0, 0]}
    )
    np.testing.assert_allclose(middle.translation, [0.05, -0.03, 0.7], atol=1e-12)
    np.testing.assert_allclose(middle.rotation, pin.rpy.rpyToMatrix(0.1, -0.15, 0.2), atol=1e-12)
    np.testing.assert_allclose(pin.centerOfMass(model, data, q), [0.05, -0.03, 0.7], atol=1e-12)


# the reference gait's biped


def test_biped7_has_the_parameters_of_the_gait():
    """Masses, centres and moments of gait R1: fractions of the lengths from the distal end, radii of gyration squared."""
    bodies = inertials("biped7")
    expected = {
        "foot": (0.9425, [0.25 * 0.2584, -0.0663 / 2], 0.475 * 0.2584),
        "shank": (3.0225, [0, -(1 - 0.567) * 0.4182], 0.302 * 0.4182),
        "thigh": (6.5, [0, -(1 - 0.567) * 0.4165], 0.323 * 0.4165),
    }
    for segment, (mass, com, radius) in expected.items():
        for side in ("left", "right"):
            assert bodies[f"{side}_{segment}"][0] == pytest.approx(mass, abs=1e-12)
            np.testing.assert_allclose(
                bodies[f"{side}_{segment}"][1], [com[0], 0, com[1]], atol=1e-12
            )
            assert bodies[f"{side}_{segment}"][2][1, 1] == pytest.approx(
                mass * radius**2, rel=1e-12
            )
    mass, com, tensor = bodies["trunk"]
    assert mass == pytest.approx(44.07, abs=1e-12)
    np.testing.assert_allclose(com, [0, 0, 0.626 * 0.4896], atol=1e-12)
    assert tensor[1, 1] == pytest.approx(44.07 * (0.496 * 0.4896) ** 2, rel=1e-12)


def test_biped7_zero_moment_point_at_mid_double_support():
    """From absolute angles to joint angles: at t = 0.68 the zero moment point of the gait is 0.1879 m ahead of the rear ankle."""
    model, data, q = build("biped7")
    rear, front = ("right", "left")
    theta = np.array([0, 0.965249, 1.780336, 1.518436, 2.212213, 1.442355, 0.043633])
    rates = np.array([0, -0.256680, -0.705261, 0, -0.350416, -0.453311, -1.022654])
    accelerations = np.array([0, 0.720467, -0.620796, 0, -0.713055, 0.386958, 0])
    q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    # joint angles of the YAML comment, linear in theta = (rear foot, shank, thigh, trunk, front thigh, shank, foot)
    joints = {
        f"{rear}_hip": (3, 2, 0.0),
        f"{rear}_knee": (2, 1, 0.0),
        f"{rear}_ankle": (1, 0, -np.pi / 2),
        f"{front}_hip": (3, 4, 0.0),
        f"{front}_knee": (4, 5, 0.0),
        f"{front}_ankle": (5, 6, -np.pi / 2),
    }
    for joint, (plus, minus, constant) in joints.items():
        put(model, q, joint, theta[plus] - theta[minus] + constant)
        v[coordinate(model, joint)] = rates[plus] - rates[minus]
        a[coordinate(model, joint)] = accelerations[plus] - accelerations[minus]
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, np.pi / 2 - theta[3], 0.0)).coeffs()
    # the hip rides on the rear leg; classical acceleration of its two rods
    lengths, k = np.array([0.4182, 0.4165]), slice(1, 3)
    x, z = np.cos(theta[k]), np.sin(theta[k])
    q[:3] = [lengths @ x, 0, 0.0663 + lengths @ z]
    speed = np.array([-lengths @ (z * rates[k]), 0, lengths @ (x * rates[k])])
    growth = [
        -lengths @ (z * accelerations[k] + x * rates[k] ** 2),
        0,
        lengths @ (x * accelerations[k] - z * rates[k] ** 2),
    ]
    R = pin.Quaternion(q[3:7]).matrix()
    v[:3], a[:3] = R.T @ speed, R.T @ np.array(growth)
    wrench = pin.SE3(R, q[:3]).act(pin.Force(pin.rnea(model, data, q, v, a)[:6]))
    assert -wrench.angular[1] / wrench.linear[2] == pytest.approx(0.1879, abs=1e-4)
    assert abs(wrench.linear[0] / wrench.linear[2]) < 0.14


# scenes and snake


def test_rigid_swing_hangs_as_it_should():
    mass, com, _ = inertials("rigid_swing")["swing"]
    assert mass == pytest.approx(6.0, abs=1e-12)
    np.testing.assert_allclose(com, [0, 0, -1.6], atol=1e-12)
    points = read_yaml("rigid_swing")["control_points"]
    assert [
        points[f"{side}_{what}"]["xyz"][1] for what in ("rod", "slot") for side in ("left", "right")
    ] == [0.3, -0.3, 0.16, -0.16]


@pytest.mark.parametrize(
    ("name", "points", "height", "half_width"),
    [("swing", "grip", 1.4, 0.15), ("highbar", "grip", 2.2, 0.18), ("ropes", "end", 1.8, 0.45)],
)
def test_grips_of_the_scenes(name, points, height, half_width):
    model, data, q = build(name)
    pin.framesForwardKinematics(model, data, q)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        point = read_yaml(name)["control_points"][f"{side}_{points}"] | {"rpy": [0, 0, 0]}
        np.testing.assert_allclose(
            place(model, data, point).translation, [0, sign * half_width, height], atol=1e-12
        )


def test_swing_hangs_in_balance():
    model, data, q = build("swing")
    _, Gamma = motions(closing_rows("swing", model, data, q))
    np.testing.assert_allclose(
        Gamma.T @ pin.computeGeneralizedGravity(model, data, q), 0, atol=1e-12
    )


def test_snake_wheels_are_at_the_centres_of_mass():
    bodies, description = inertials("snake5"), read_yaml("snake5")
    for wheel in description["wheels"].values():
        mass, com, tensor = bodies[wheel["link"]]
        np.testing.assert_allclose(wheel["xyz"], com, atol=1e-15)
        assert (mass, tensor[2, 2]) == (1.0, 0.005)


def test_snake_is_folded_to_a_zigzag_in_the_ground_plane():
    model, data, q = build("snake5")
    pin.framesForwardKinematics(model, data, q)
    for k in range(1, 6):
        X_WL = data.oMf[model.getFrameId(f"link{k}", pin.BODY)]
        np.testing.assert_allclose(
            X_WL.rotation, pin.rpy.rpyToMatrix(0.0, 0.0, np.pi * (-1) ** k / 6), atol=1e-12
        )
        assert X_WL.translation[2] == 0
    np.testing.assert_allclose(pin.computeGeneralizedGravity(model, data, q), 0, atol=1e-15)


# the generator


def run_check(script):
    return subprocess.run(
        [sys.executable, str(script), "--check"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_files_are_what_the_generator_writes():
    result = run_check(PROJECT / "urdf" / "generate.py")
    assert (result.returncode, result.stdout) == (0, "")


def test_check_names_the_files_that_differ(tmp_path):
    shutil.copytree(
        PROJECT / "urdf", tmp_path / "urdf", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(PROJECT / "config" / "robots", tmp_path / "config" / "robots")
    changed = tmp_path / "config" / "robots" / "human28.yaml"
    changed.write_text(
        changed.read_text(encoding="utf-8").replace("left_knee: 0.4", "left_knee: 0.41"),
        encoding="utf-8",
    )
    (tmp_path / "urdf" / "fourbar.urdf").unlink()
    (tmp_path / "urdf" / "stray.urdf").write_text("<robot/>", encoding="utf-8")
    result = run_check(tmp_path / "urdf" / "generate.py")
    assert result.returncode == 1
    named = {line.split(" is not")[0] for line in result.stdout.splitlines()}
    assert named == {"config/robots/human28.yaml", "urdf/fourbar.urdf", "urdf/stray.urdf"}
    assert not (tmp_path / "urdf" / "fourbar.urdf").exists()
