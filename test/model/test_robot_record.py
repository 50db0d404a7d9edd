# SPDX-License-Identifier: Apache-2.0
"""The records of a robot and of its state: what they hold, what they refuse, how they say it."""

import numpy as np
import pinocchio as pin
import pytest
from small_urdf import described, joint, link, robot, two_links

from humanoid_dynamics.errors import ShapeError, SingularInertiaError, UnknownNameError
from humanoid_dynamics.model.description import Description, FrameSpec, SurfaceSpec
from humanoid_dynamics.model.facts import describe_robot
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.state import State


@pytest.fixture(scope="module")
def arm():
    content = {
        "surfaces": {"tip": {"link": "arm", "points": [[0, 0]]}},
        "aliases": {"l_wrist": "arm"},
    }
    return load_robot(two_links(), description=described(**content))


def test_lookups(arm):
    assert arm.joint("elbow").child == "arm"
    assert arm.surface("tip").link == "arm"
    assert arm.model.frames[arm.link_frame("l_wrist")].name == "arm"


def test_links_without_mass_are_counted():
    text = robot(
        link("base"),
        link("eye", ""),
        link("arm"),
        joint("f", "base", "eye", "fixed", ""),
        joint("elbow", "eye", "arm"),
    )
    facts = describe_robot(load_robot(text))
    assert (facts["links"], facts["massless_links"]) == (3, 1)


@pytest.mark.parametrize(
    ("look", "words"),
    [
        (
            lambda arm: arm.joint("elbo"),
            "no joint named 'elbo'. Did you mean 'elbow'? Known: root_joint, elbow",
        ),
        (lambda arm: arm.surface("sole"), "no contact surface named 'sole'. Known: tip"),
        (
            lambda arm: arm.link_frame("l_wrst"),
            "no link named 'l_wrst'. Did you mean 'l_wrist'? Known: base, arm, base_link, l_wrist",
        ),
    ],
)
def test_names_that_do_not_exist(arm, look, words):
    with pytest.raises(UnknownNameError) as caught:
        look(arm)
    assert str(caught.value) == words
    assert isinstance(caught.value, KeyError)


def test_a_robot_without_surfaces_says_none():
    with pytest.raises(UnknownNameError, match=r"no contact surface named 'sole'. Known: none"):
        load_robot(two_links(), root="fixed").surface("sole")


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("friction", {"friction": np.nan}),
        ("friction", {"friction": -0.1}),
        ("normal_force_limit", {"normal_force_limit": 0.0}),
        ("normal_force_limit", {"normal_force_limit": np.nan}),
        ("vertices", {"vertices": np.zeros((0, 3))}),
        ("vertices", {"vertices": np.zeros((4, 2))}),
        ("vertices", {"vertices": np.array([[0.1, np.nan, 0.0]])}),
        ("vertices", {"vertices": np.array([[0.1, 0.2, 0.0]] * 2)}),
        ("vertices", {"vertices": np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0]])}),
    ],
)
def test_surfaces_that_no_patch_can_be_are_refused_with_their_name(field, given):
    face = np.array([[0.1, 0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0]])
    spec = SurfaceSpec(FrameSpec("arm", pin.SE3.Identity()), **({"vertices": face} | given))
    with pytest.raises(ShapeError, match=f"surface sole: {field}: received"):
        load_robot(two_links(), description=Description(surfaces={"sole": spec}))


def test_nothing_can_be_changed(arm):
    for array in (arm.limits.lower, arm.limits.effort, arm.friction, arm.damping, arm.posture):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(TypeError):
        arm.surfaces["x"] = None
    with pytest.raises(AttributeError):
        arm.name = "x"


def test_two_robots_share_nothing(arm):
    other = load_robot(two_links())
    other.model.armature[-1] = 5.0
    assert arm.model.armature[-1] == 0.0
    assert arm.data() is not arm.data()


def test_inertia_is_asked_for_by_name():
    massless = load_robot(robot(link("base"), link("tip", ""), joint("j", "base", "tip")))
    assert massless.inertialess == ("tip",)
    with pytest.raises(
        SingularInertiaError,
        match="forward dynamics requires a positive definite mass matrix, but these moving links have no inertia: tip",
    ):
        massless.check_inertia("forward dynamics")
    load_robot(two_links()).check_inertia("forward dynamics")


def test_state_is_a_copy_that_cannot_be_changed(arm):
    q, v = pin.neutral(arm.model), np.zeros(arm.nv)
    state = State(q, v)
    q[0] = v[0] = 1.0
    assert (state.q[0], state.v[0]) == (0.0, 0.0)
    with pytest.raises(ValueError, match="read-only"):
        state.q[0] = 1.0
    assert state.check(arm) is state


def test_state_at_rest(arm):
    state = State.at_rest(arm).check(arm)
    np.testing.assert_array_equal(state.q, arm.posture)
    assert not state.v.any()


def test_state_of_an_empty_robot():
    State(np.zeros(0), np.zeros(0)).check(load_robot(robot(link("base")), root="fixed"))


BAD = {
    "short q": (lambda q, v: (q[:-1], v), r"q: received shape \(7,\), expected \(8,\)"),
    "long v": (lambda q, v: (q, np.zeros(9)), r"v: received shape \(9,\), expected \(7,\)"),
    "matrix": (lambda q, v: (q[None], v), r"q: received shape \(1, 8\), expected \(8,\)"),
    "NaN": (lambda q, v: (q, v + np.nan), r"v: received nan at index 0, expected finite numbers"),
    "infinite": (
        lambda q, v: (np.where(q == 1, np.inf, q), v),
        r"q: received inf at index 6, expected finite numbers",
    ),
    "quaternion": (
        lambda q, v: (2 * q, v),
        r"q: received a quaternion that is not of unit length, expected unit length to 1e-06",
    ),
    "no quaternion": (
        lambda q, v: (0 * q, v),
        r"q: received a quaternion that is not of unit length",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_state_that_does_not_fit(arm, case):
    change, words = BAD[case]
    with pytest.raises(ShapeError, match=words) as caught:
        State(*change(pin.neutral(arm.model), np.zeros(arm.nv))).check(arm)
    assert isinstance(caught.value, ValueError)


def test_state_of_words():
    with pytest.raises(ShapeError, match="q: received str 'straight', expected numbers"):
        State("straight", np.zeros(3))
    with pytest.raises(ShapeError, match=r"v: received list \[\[1\], \[1, 2\]\], expected numbers"):
        State(np.zeros(3), [[1], [1, 2]])


def test_a_continuous_joint_off_the_circle_is_found():
    spinning = load_robot(two_links(kind="continuous"), root="fixed")
    with pytest.raises(ShapeError, match="not of unit length"):
        State([1.0, 1.0], [0.0]).check(spinning)
