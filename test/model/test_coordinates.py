# SPDX-License-Identifier: Apache-2.0
"""Which coordinate is whose: names, motors, limits, what the URDF leaves out, joints that follow others."""

import numpy as np
import pinocchio as pin
import pytest
from small_urdf import LIMIT, described, joint, link, robot, two_links

from humanoid_dynamics.errors import UrdfError
from humanoid_dynamics.model.joint import Mimic
from humanoid_dynamics.model.load import load_robot

DYNAMICS = '<dynamics damping="0.5" friction="0.25"/>'


def finger(first=LIMIT, second=LIMIT, third=LIMIT, kinds=("revolute", "revolute", "revolute")):
    """A palm with three knuckles in a row: b, a, c."""
    links = [link(name) for name in ("palm", "one", "two", "three")]
    rows = [("b", "palm", "one", first), ("a", "one", "two", second), ("c", "two", "three", third)]
    return robot(
        *links,
        *(
            joint(name, up, down, kind, inside)
            for (name, up, down, inside), kind in zip(rows, kinds, strict=True)
        ),
    )


def ball(inside=(LIMIT, LIMIT, LIMIT), axes=("1 0 0", "0 1 0", "0 0 1")):
    middle = [link(name, "") for name in ("m1", "m2")]
    rows = [("x", "base", "m1"), ("y", "m1", "m2"), ("z", "m2", "arm")]
    joints = [
        joint(name, up, down, inside=part, axis=axis, origin="0 0 0")
        for (name, up, down), part, axis in zip(rows, inside, axes, strict=True)
    ]
    return robot(
        link("base"), link("arm"), *middle, *joints, '<spherical name="s" joints="x y z"/>'
    )


def notices(found, severity="info"):
    return [
        str(notice)
        for notice in found.notices
        if notice.severity == severity and notice.element != "soles"
    ]


def test_names_and_slices_cover_the_velocity():
    found = load_robot(finger(kinds=("floating", "planar", "prismatic")))
    assert [item.name for item in found.joints] == ["root_joint", "b", "a", "c"]
    assert [item.kind for item in found.joints] == [
        "free_flyer",
        "free_flyer",
        "planar",
        "prismatic",
    ]
    assert found.coordinates[6:13] == ("b.vx", "b.vy", "b.vz", "b.wx", "b.wy", "b.wz", "a.vx")
    assert np.concatenate([np.arange(found.nv)[item.v] for item in found.joints]).tolist() == list(
        range(found.nv)
    )
    assert np.concatenate([np.arange(found.nq)[item.q] for item in found.joints]).tolist() == list(
        range(found.nq)
    )
    assert found.actuated == ("c",)
    assert found.actuated_v.tolist() == [found.nv - 1]
    assert (found.limits.effort[:-1] == 0.0).all()


def test_limits_are_those_of_the_urdf():
    found = load_robot(two_links(LIMIT + DYNAMICS))
    limits = found.limits
    assert (limits.lower[-1], limits.upper[-1], limits.velocity[-1], limits.effort[-1]) == (
        -1.0,
        2.0,
        3.0,
        4.0,
    )
    assert (found.damping[-1], found.friction[-1]) == (0.5, 0.25)
    assert (limits.lower[:7] == -np.inf).all()
    assert (limits.velocity[:6] == np.inf).all()
    assert (limits.effort[:6] == 0.0).all()
    assert notices(found) == []


@pytest.mark.parametrize("inside", ["", "<limit/>", '<limit effort="0" velocity="0"/>'])
def test_limits_left_out_are_none_and_told(inside):
    found = load_robot(two_links(inside))
    assert (
        found.limits.lower[-1],
        found.limits.upper[-1],
        found.limits.velocity[-1],
        found.limits.effort[-1],
    ) == (
        -np.inf,
        np.inf,
        np.inf,
        np.inf,
    )
    assert notices(found) == [
        "1 joint: gives no effort limit, so it has none here (elbow)",
        "1 joint: gives no position limit, so it has none here (elbow)",
    ]


def test_one_bound_alone_stays():
    found = load_robot(two_links('<limit lower="-0.5" effort="1"/>'))
    assert (found.limits.lower[-1], found.limits.upper[-1]) == (-0.5, np.inf)
    assert notices(found) == ["1 joint: gives no position limit, so it has none here (elbow)"]


def test_many_joints_without_limits_are_counted():
    links = [link(f"l{i}") for i in range(7)]
    found = load_robot(
        robot(*links, *(joint(f"j{i}", f"l{i}", f"l{i + 1}", "continuous", "") for i in range(6)))
    )
    assert notices(found) == [
        "6 joints: give no effort limit, so they have none here (j0, j1, j2, j3, ...)"
    ]


def test_continuous_joint_has_two_numbers_and_no_bounds():
    found = load_robot(two_links(LIMIT, kind="continuous"))
    item = found.joint("elbow")
    assert (item.q.stop - item.q.start, item.v.stop - item.v.start, item.coordinates) == (
        2,
        1,
        ("elbow",),
    )
    assert np.isinf(found.limits.lower[item.q]).all()
    assert (found.limits.velocity[-1], found.limits.effort[-1]) == (3.0, 4.0)


def test_passive_joints_and_motors():
    assert load_robot(finger(), description=described(passive=["a"])).actuated == ("b", "c")
    found = load_robot(finger(), description=described(motors=["c"]))
    assert found.actuated == ("c",)
    assert found.limits.effort[6:].tolist() == [0.0, 0.0, 4.0]
    assert load_robot(finger(), description=described(name_mot=["b", "c"])).actuated == ("b", "c")
    assert load_robot(finger(), description=described(motors=[])).actuated == ()
    assert [item.actuated for item in found.joints] == [False, False, False, True]


def test_numbers_of_the_description_win():
    found = load_robot(
        two_links(LIMIT + DYNAMICS),
        description=described(
            armature={"elbow": 0.1},
            friction={"elbow": 0},
            damping={"elbow": 7},
            effort={"elbow": 9},
        ),
    )
    assert found.model.armature[-1] == 0.1
    assert (found.friction[-1], found.damping[-1], found.limits.effort[-1]) == (0.0, 7.0, 9.0)
    q = pin.neutral(found.model)
    bare = load_robot(two_links())
    difference = (
        pin.crba(found.model, found.data(), q)[-1, -1]
        - pin.crba(bare.model, bare.data(), q)[-1, -1]
    )
    assert difference == pytest.approx(0.1, abs=1e-14)


@pytest.mark.parametrize(
    ("axes", "order"),
    [
        (("1 0 0", "0 1 0", "0 0 1"), "xyz"),
        (("0 0 1", "1 0 0", "0 -1 0"), "yzx"),
        (("0 0 1", "1 0 0", "0 0 1"), None),
    ],
)
def test_numbers_of_a_spherical_joint_go_to_the_nearest_axis(axes, order):
    inside = tuple(
        f'<limit lower="-1" upper="1" effort="{k}" velocity="{10 * k}"/><dynamics damping="{k}"/>'
        for k in (1, 2, 3)
    )
    found = load_robot(
        ball(inside, axes), root="fixed", description=described(armature={"x": 1, "y": 2, "z": 3})
    )
    numbers = (found.limits.effort, found.limits.velocity / 10, found.damping, found.model.armature)
    for values in numbers:
        assert sorted(values) == [1.0, 2.0, 3.0]
        np.testing.assert_array_equal(values, numbers[0])
    if order:
        assert ["xyz"[int(value) - 1] for value in found.limits.effort] == list(order)
    assert np.isinf(found.limits.lower).all()
    assert found.actuated == ("s.wx", "s.wy", "s.wz")


def test_a_turned_spherical_joint_finds_its_axes_in_the_link():
    """z turned by a quarter twice: x of the first joint is -x of the arm, y of the second is x of the third's parent."""
    inside = tuple(f'<limit effort="{k}"/>' for k in (1, 2, 3))
    text = ball(inside).replace(
        'name="z" type="revolute"><origin xyz="0 0 0"',
        'name="z" type="revolute"><origin xyz="0 0 0" rpy="0 0 1.5707963267948966"',
    )
    found = load_robot(text, root="fixed")
    assert found.limits.effort.tolist() == [2.0, 1.0, 3.0]


@pytest.mark.parametrize("names", [["s"], ["x"], ["x", "y", "z"]])
def test_a_spherical_joint_is_passive_as_one(names):
    found = load_robot(ball(), root="fixed", description=described(passive=names))
    assert found.actuated == ()
    assert load_robot(ball(), root="fixed", description=described(motors=names)).actuated == (
        "s.wx",
        "s.wy",
        "s.wz",
    )


def test_a_joint_put_in_the_place_of_one_has_its_numbers_in_every_coordinate():
    found = load_robot(
        two_links(LIMIT + DYNAMICS),
        root="fixed",
        description=described(
            joint_name=["elbow"], joint_type=["UJOINT_XY"], armature={"elbow": 0.5}
        ),
    )
    assert found.limits.effort.tolist() == [4.0, 4.0]
    assert found.limits.velocity.tolist() == [3.0, 3.0]
    assert found.model.armature.tolist() == [0.5, 0.5]
    assert np.isinf(found.limits.lower).all()


# Joints that follow others


def follow(leader, ratio=None, offset=None):
    more = (f' multiplier="{ratio}"' if ratio is not None else "") + (
        f' offset="{offset}"' if offset is not None else ""
    )
    return LIMIT + f'<mimic joint="{leader}"{more}/>'


def test_a_follower_keeps_its_coordinate_without_a_motor():
    found = load_robot(finger(second=follow("b", 0.5, 0.1)))
    assert found.nv == 9
    assert found.mimics == (Mimic("a", "b", 0.5, 0.1),)
    assert found.actuated == ("b", "c")
    assert found.limits.effort[found.joint("a").v].tolist() == [0.0]


def test_ratio_and_offset_have_defaults():
    assert load_robot(finger(second=follow("b"))).mimics == (Mimic("a", "b", 1.0, 0.0),)


def test_a_follower_may_lose_its_coordinate():
    text = finger(
        first='<limit lower="-1" upper="1" velocity="30" effort="40"/>',
        second=follow("b", 0.5, 0.1),
    )
    found = load_robot(text, mimic="reduced")
    item = found.joint("a")
    assert (found.nv, found.mimics, item.kind, item.coordinates, item.actuated) == (
        8,
        (),
        "mimic",
        (),
        False,
    )
    assert found.coordinates[6:] == ("b", "c")
    assert found.actuated == ("b", "c")
    assert found.actuated_v.tolist() == [6, 7]
    assert (found.limits.effort[6], found.limits.velocity[6], found.limits.upper[7]) == (
        40.0,
        30.0,
        1.0,
    )
    assert found.posture.shape == (found.nq,)


def test_reduced_dynamics_are_those_of_the_constrained_ones():
    """Gamma^T M Gamma of the whole is the mass matrix of the reduced robot, and the poses are the same."""
    text = finger(second=follow("b", 0.5, 0.1), third=follow("a", -2.0, 0.3))
    whole, reduced = load_robot(text, root="fixed"), load_robot(text, root="fixed", mimic="reduced")
    assert whole.mimics[0] == Mimic("a", "b", 0.5, 0.1)
    assert (whole.mimics[1].leader, whole.mimics[1].ratio, whole.mimics[1].offset) == (
        "b",
        -1.0,
        pytest.approx(0.1),
    )
    assert (reduced.nv, reduced.mimics) == (1, ())
    b = 0.4
    q = np.array([b, 0.5 * b + 0.1, -2.0 * (0.5 * b + 0.1) + 0.3])
    Gamma = np.array([[1.0], [0.5], [-1.0]])
    M = pin.crba(whole.model, whole.data(), q)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(
        pin.crba(reduced.model, reduced.data(), np.array([b])),
        Gamma.T @ M @ Gamma,
        rtol=0,
        atol=1e-14,
    )
    ours, theirs = whole.data(), reduced.data()
    pin.framesForwardKinematics(whole.model, ours, q)
    pin.framesForwardKinematics(reduced.model, theirs, np.array([b]))
    np.testing.assert_allclose(
        theirs.oMf[reduced.link_frame("three")].homogeneous,
        ours.oMf[whole.link_frame("three")].homogeneous,
        rtol=0,
        atol=1e-14,
    )


@pytest.mark.parametrize(
    "text",
    [
        finger(first=follow("c", 0.5)),
        finger(second=follow("b", 0.5), kinds=("revolute", "continuous", "revolute")),
    ],
)
def test_what_cannot_be_reduced_stays_a_constraint(text):
    found = load_robot(text, mimic="reduced")
    assert (found.nv, len(found.mimics)) == (9, 1)
    assert found.mimics[0].ratio == 0.5
    assert found.joint(found.mimics[0].joint).kind != "mimic"
    assert any(
        "keeps its coordinate, with a constraint: reduction requires" in text
        for text in notices(found)
    )


def test_replaced_joints_and_reduced_followers_go_together():
    text = ball().replace(
        "</robot>",
        link("hand")
        + link("tip")
        + joint("p", "arm", "hand")
        + joint("q", "hand", "tip", inside=follow("p", 2))
        + "</robot>",
    )
    found = load_robot(
        text, root="fixed", mimic="reduced", description=described(armature={"p": 0.5, "q": 9})
    )
    assert found.coordinates == ("s.wx", "s.wy", "s.wz", "p")
    assert found.model.armature.tolist() == [0.0, 0.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            finger(second=follow("thumb")),
            "joint 'a': mimics joint 'thumb', which does not exist; it moves by itself, without a motor",
        ),
        (finger(second=follow("")), "joint 'a': mimics joint '', which does not exist"),
        (
            finger(second=follow("b"), kinds=("fixed", "revolute", "revolute")),
            "joint 'a': mimics joint 'b', which is fixed; it moves",
        ),
        (
            finger(second=follow("b"), kinds=("planar", "revolute", "revolute")),
            "joint 'a': mimics joint 'b', which is planar",
        ),
        (
            finger(second=follow("b"), kinds=("revolute", "floating", "revolute")),
            "joint 'a': mimics joint 'b', but is floating itself",
        ),
    ],
)
@pytest.mark.parametrize("mimic", ["constraint", "reduced"])
def test_followers_of_nobody_are_warned_of(text, words, mimic):
    found = load_robot(text, mimic=mimic)
    assert any(words in warning for warning in notices(found, "warning"))
    assert found.mimics == ()
    assert "a" not in found.actuated
    assert not found.joint("a").actuated


def test_a_follower_of_a_part_of_a_spherical_joint_is_warned_of():
    text = ball().replace(
        "</robot>", link("hand") + joint("p", "arm", "hand", inside=follow("x")) + "</robot>"
    )
    found = load_robot(text)
    assert (
        "joint 'p': mimics joint 'x', which is part of a spherical or universal joint; it moves by itself, without a motor"
        in notices(found, "warning")
    )


def test_a_fixed_joint_that_follows_does_not_matter():
    found = load_robot(finger(second=follow("b"), kinds=("revolute", "fixed", "revolute")))
    assert (found.mimics, notices(found, "warning")) == ((), [])


def test_joints_that_follow_each_other():
    with pytest.raises(UrdfError, match=r":6: joint 'b': mimics b -> a -> b"):
        load_robot(finger(first=follow("a"), second=follow("b")))
    with pytest.raises(UrdfError, match=r"joint 'b': mimics b -> a -> a"):
        load_robot(finger(first=follow("a"), second=follow("a")))
