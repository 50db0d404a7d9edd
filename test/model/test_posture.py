# SPDX-License-Identifier: Apache-2.0
"""The pose a robot rests in."""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin
import pytest
from bipeds import biped, strip

from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.description_file import read_description
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.standing.closing import loop_rows
from humanoid_dynamics.model.standing.standing import (
    Goal,
    flat_rows,
    goal_rows,
    pick_soles,
    support_margin,
)
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.inverse import inverse_dynamics

LEGS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "pitch2", "roll2")
MIRROR = {
    "hip_yaw": -1.0,
    "hip_roll": -1.0,
    "hip_pitch": 1.0,
    "knee": 1.0,
    "pitch2": 1.0,
    "roll2": -1.0,
}
FLAT = {
    f"{side}_{joint}": angle
    for side in ("left", "right")
    for joint, angle in (("hip_pitch", -0.3), ("knee", 0.6), ("pitch2", -0.3))
}


def placed(robot: RobotModel, q: np.ndarray | None = None) -> pin.Data:
    data = robot.data()
    q = robot.posture if q is None else q
    pin.computeJointJacobians(robot.model, data, q)
    pin.updateFramePlacements(robot.model, data)
    pin.jacobianCenterOfMass(robot.model, data, q)
    return data


def angle(robot: RobotModel, name: str) -> float:
    return float(robot.posture[robot.joint(name).q][0])


def described(text: str, **keys: object) -> RobotModel:
    return load_robot(text, description=read_description(keys, "test"))


def assert_soles_on_the_ground(robot: RobotModel) -> None:
    data = placed(robot)
    for surface in robot.surfaces.values():
        for corner in surface.vertices:
            assert abs(data.oMf[surface.frame].act(corner)[2]) < 1e-10


@pytest.mark.parametrize("ankle_rest", [0.0, 0.2])
def test_soles_are_flat_and_mass_is_over_their_middle(ankle_rest: float) -> None:
    robot = load_robot(biped(ankle_rest=ankle_rest))
    assert_soles_on_the_ground(robot)
    data = placed(robot)
    soles = pick_soles(data, robot.surfaces)
    middle = np.mean([data.oMf[sole.frame].act(sole.centre) for sole in soles], axis=0)
    # Balance is wished for beside an upright root, so it is met to the millimetre and not to the last digit.
    assert np.abs(data.com[0] - middle)[:2].max() < 1e-3
    assert np.abs(middle[:2]).max() < 1e-3
    assert support_margin(data, soles) > 0.05


def test_knees_bend_slightly_and_forward() -> None:
    robot = load_robot(biped())
    assert 0.2 < angle(robot, "left_knee") < 0.8
    data = placed(robot)
    knee, hip, ankle = (
        data.oMi[robot.joint(f"left_{name}").index].translation
        for name in ("knee", "hip_pitch", "pitch2")
    )
    assert knee[0] > max(hip[0], ankle[0])


def test_knees_that_only_bend_back_bend_back() -> None:
    robot = load_robot(biped(knee=(-2.4, 0.0)))
    assert -0.8 < angle(robot, "left_knee") < -0.2
    assert_soles_on_the_ground(robot)


def test_knees_set_back_still_bend_the_way_their_limits_let_them() -> None:
    text = biped().replace(
        '<origin xyz="0 0 -0.4" rpy="0 0 0"/>', '<origin xyz="-0.04 0 -0.4" rpy="0 0 0"/>'
    )
    text = text.replace(
        '<origin xyz="0 0 -0.38" rpy="0 0 0"/>', '<origin xyz="0.04 0 -0.38" rpy="0 0 0"/>'
    )
    robot = load_robot(text)
    assert 0.1 < angle(robot, "left_knee") < 0.9
    assert_soles_on_the_ground(robot)


def test_knees_that_cannot_bend_stay_straight() -> None:
    robot = load_robot(biped(knee=(0.0, 0.0)))
    assert angle(robot, "left_knee") == 0.0
    assert_soles_on_the_ground(robot)


def test_a_symmetric_robot_rests_symmetrically() -> None:
    robot = load_robot(biped())
    for joint in LEGS:
        assert angle(robot, f"left_{joint}") == pytest.approx(
            MIRROR[joint] * angle(robot, f"right_{joint}"), abs=1e-9
        )
    data = placed(robot)
    left, right = (
        data.oMf[robot.surfaces[name].frame].translation for name in ("left_foot", "right_foot")
    )
    assert np.allclose(left, right * [1.0, -1.0, 1.0], atol=1e-9)
    assert abs(data.com[0][1]) < 1e-9


@pytest.mark.parametrize("shift", [0.0, 0.03], ids=["level", "one foot ahead"])
def test_on_points_the_mass_is_exactly_over_their_line(shift: float) -> None:
    feet = {
        side: {"link": f"{side}_foot", "xyz": [x, 0, -0.08], "points": [[0, 0]]}
        for side, x in (("left", 0.02), ("right", 0.02 + shift))
    }
    robot = described(biped(), surfaces=feet)
    data = placed(robot)
    left, right = (data.oMf[robot.surfaces[side].frame].translation for side in ("left", "right"))
    along = (left - right)[:2] / np.linalg.norm((left - right)[:2])
    across = np.array([-along[1], along[0]])
    assert abs(across @ (data.com[0] - right)[:2]) < 1e-9
    assert_soles_on_the_ground(robot)
    answer = inverse_dynamics(robot, State.at_rest(robot), np.zeros(robot.nv))
    assert answer.certificate.status == "OK", answer.certificate.reasons


def test_a_described_posture_off_balance_on_points_is_left_alone() -> None:
    feet = {
        side: {"link": f"{side}_foot", "xyz": [0.05, 0, -0.08], "points": [[0, 0]]}
        for side in ("left", "right")
    }
    robot = described(biped(), surfaces=feet, posture=FLAT)
    assert angle(robot, "left_knee") == FLAT["left_knee"]


def test_root_stays_upright() -> None:
    robot = load_robot(biped())
    assert pin.Quaternion(robot.posture[3:7]).angularDistance(pin.Quaternion.Identity()) < 1e-3


def test_limits_are_kept() -> None:
    robot = load_robot(biped(knee=(0.5, 2.0)))
    for joint in robot.joints[1:]:
        assert (
            robot.limits.lower[joint.q][0] - 1e-12
            <= robot.posture[joint.q][0]
            <= robot.limits.upper[joint.q][0] + 1e-12
        )
    assert_soles_on_the_ground(robot)


def test_posture_is_the_same_every_time() -> None:
    assert np.array_equal(load_robot(biped()).posture, load_robot(biped()).posture)


def test_described_angles_are_kept_to_the_letter() -> None:
    robot = described(biped(), posture=FLAT)
    for name, value in FLAT.items():
        assert angle(robot, name) == pytest.approx(value, abs=1e-12)
    assert angle(robot, "left_hip_yaw") == pytest.approx(0.0, abs=1e-12)
    assert_soles_on_the_ground(robot)


def test_described_angles_that_were_rounded_are_repaired() -> None:
    rounded = FLAT | {"left_pitch2": -0.2998, "right_pitch2": -0.3003}
    robot = described(biped(), posture=rounded)
    for name, value in rounded.items():
        assert angle(robot, name) == pytest.approx(value, abs=1e-3)
    assert_soles_on_the_ground(robot)


def test_a_raised_foot_stays_raised() -> None:
    raised = FLAT | {"right_hip_pitch": -1.2, "right_knee": 1.8, "right_pitch2": -0.6}
    robot = described(biped(), posture=raised)
    for name, value in raised.items():
        assert angle(robot, name) == pytest.approx(value, abs=1e-12)
    heights = [
        placed(robot).oMf[surface.frame].translation[2] for surface in robot.surfaces.values()
    ]
    assert min(heights) == pytest.approx(0.0, abs=1e-9)
    assert max(heights) > 0.05
    assert any("not level" in str(notice) for notice in robot.notices)


def test_zero_outside_the_limits_moves_inside() -> None:
    robot = load_robot(biped(knee=(0.5, 2.0)), root="fixed")
    assert 0.5 <= angle(robot, "left_knee") < 0.6


def test_followers_in_a_leg_keep_step_with_their_leaders() -> None:
    text = biped()
    for side in ("left", "right"):
        head, joint, tail = text.partition(f'<joint name="{side}_pitch2" type="revolute">')
        text = (
            head
            + joint
            + f'<mimic joint="{side}_hip_pitch" multiplier="1.1" offset="0.02"/>'
            + tail
        )
    robot = load_robot(text)
    for side in ("left", "right"):
        assert angle(robot, f"{side}_pitch2") == pytest.approx(
            1.1 * angle(robot, f"{side}_hip_pitch") + 0.02, abs=1e-9
        )
    assert_soles_on_the_ground(robot)


def test_planar_root_stands_upright() -> None:
    robot = load_robot(biped(), root="planar")
    assert_soles_on_the_ground(robot)
    assert abs(robot.posture[2]) < 1e-3


def test_y_up_model_is_set_upright() -> None:
    text = biped()
    turned = text.replace(
        '<robot name="biped">',
        '<robot name="biped"><link name="base"/>'
        '<joint name="turn" type="fixed"><parent link="base"/><child link="pelvis"/>'
        '<origin rpy="-1.5707963267948966 0 0"/></joint>',
    )
    robot = load_robot(turned)
    assert_soles_on_the_ground(robot)
    assert placed(robot).com[0][2] > 0.5


def test_spherical_joint_takes_the_angles_of_its_three_revolutes() -> None:
    angles = {"a": 0.3, "b": -0.5, "c": 0.7}
    axes = {"a": "0 0 1", "b": "1 0 0", "c": "0 1 0"}
    frame = {"a": "0.1 0.2 0.3", "b": "0.4 0 0.1", "c": "0 0.2 0"}
    links = '<link name="base"/><link name="m1"/><link name="m2"/><link name="arm"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
    links += '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="{5}" rpy="{3}"/><axis xyz="{4}"/>'
    joint += '<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>'
    chain = ("base", "m1", "m2", "arm")
    joints = "".join(
        joint.format(
            name, chain[i], chain[i + 1], frame[name], axes[name], "0 0 0.5" if not i else "0 0 0"
        )
        for i, name in enumerate("abc")
    )
    text = f'<robot name="ball">{links}{joints}</robot>'
    three = described(text, root="fixed", posture=angles)
    one = described(text, root="fixed", posture=angles, spherical={"ball": ["a", "b", "c"]})
    arm = [placed(robot).oMf[robot.link_frame("arm")].homogeneous for robot in (three, one)]
    assert np.allclose(arm[0], arm[1], atol=1e-12)


def four_bar(kind: str = "revolute") -> tuple[str, dict[str, object]]:
    """A four-bar in the x-z plane, open at its zero pose."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(
        f'<link name="{name}">{inertial}</link>'
        for name in ("ground", "crank", "coupler", "rocker")
    )
    joint = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{}"/><axis xyz="0 1 0"/></joint>'
    joints = joint.format("A", "ground", "crank", "0 0 0") + joint.format(
        "B", "crank", "coupler", "0 0 0.3"
    )
    joints += joint.format("D", "ground", "rocker", "0.6 0 0")
    side = (
        [0, 0, 0] if kind == "universal" else [1.5707963267948966, 0, 0]
    )  # the free axis along the hinges
    loop = {
        "kind": kind,
        "a": {"link": "coupler", "xyz": [0.55, 0, 0], "rpy": side},
        "b": {"link": "rocker", "xyz": [0, 0, 0.5], "rpy": side},
    }
    return f'<robot name="bars">{links}{joints}</robot>', {"root": "fixed", "loops": {"C": loop}}


@pytest.mark.parametrize("kind", ["revolute", "spherical", "universal", "planar"])
def test_loops_are_closed(kind: str) -> None:
    text, keys = four_bar(kind)
    robot = described(text, **keys)
    rows = loop_rows(robot.model, placed(robot), robot.loops[0])
    assert np.abs(rows.error).max() < 1e-10


def test_described_crank_stays_while_the_loop_closes() -> None:
    text, keys = four_bar()
    robot = described(text, **keys, posture={"A": 0.4})
    cosine, sine = robot.posture[robot.joint("A").q]
    assert np.arctan2(sine, cosine) == pytest.approx(0.4, abs=1e-12)
    assert np.abs(loop_rows(robot.model, placed(robot), robot.loops[0]).error).max() < 1e-10


def test_loop_that_cannot_close_leaves_zero_and_says_so() -> None:
    text, keys = four_bar()
    keys["loops"]["C"]["b"]["xyz"] = [0, 0, 5.0]  # type: ignore[index]
    robot = described(text, **keys)
    assert np.array_equal(robot.posture, pin.neutral(robot.model))
    assert any("could not be brought together" in warning for warning in robot.warnings)


def test_loops_close_where_the_soles_cannot_be_level() -> None:
    text, keys = four_bar()
    square = [[0.1, 0.1], [-0.1, 0.1], [-0.1, -0.1], [0.1, -0.1]]
    soles = {
        "left_foot": {"link": "ground", "polygon": square},
        "right_foot": {"link": "ground", "rpy": [1.0, 0, 0], "polygon": square},
    }
    robot = described(text, **keys | {"root": "free_flyer", "surfaces": soles})
    assert np.abs(loop_rows(robot.model, placed(robot), robot.loops[0]).error).max() < 1e-10
    assert any(
        "the loops close, but the soles do not become level" in warning
        for warning in robot.warnings
    )


@pytest.mark.parametrize(
    "kind", ["fixed", "revolute", "prismatic", "universal", "spherical", "planar"]
)
def test_loop_rows_are_the_derivative_of_their_error(kind: str) -> None:
    robot = described(
        biped(),
        loops={
            "L": {
                "kind": kind,
                "a": {"link": "left_foot", "xyz": [0.1, 0.2, 0]},
                "b": {"link": "right_foot"},
            }
        },
    )
    assert_derivative(robot, lambda data: loop_rows(robot.model, data, robot.loops[0]), scale=0.3)


def test_standing_rows_are_the_derivative_of_their_error() -> None:
    robot = load_robot(biped())
    soles = pick_soles(placed(robot), robot.surfaces)
    goal = Goal(soles, np.array([[0.0, 0.1], [0.0, -0.1]]), np.eye(3), 0.8, balanced=True)
    root = robot.link_frame("pelvis")
    assert_derivative(robot, lambda data: flat_rows(robot.model, data, soles))
    assert_derivative(robot, lambda data: goal_rows(robot.model, data, goal, root))


def assert_derivative(robot: RobotModel, rows, *, scale: float = 0.3) -> None:
    rng = np.random.default_rng(5)
    q = pin.integrate(robot.model, robot.posture, rng.normal(scale=scale, size=robot.nv))
    J = rows(placed(robot, q)).J
    step = 1e-6
    for i in range(robot.nv):
        v = np.zeros(robot.nv)
        v[i] = step
        ahead, behind = (
            rows(placed(robot, pin.integrate(robot.model, q, sign * v))).error
            for sign in (1.0, -1.0)
        )
        assert np.allclose(J[:, i], (ahead - behind) / (2.0 * step), atol=1e-6)


def test_robot_without_inertia_still_gets_a_posture() -> None:
    robot = load_robot(strip(biped()).replace('mass value="', 'mass value="0'))
    assert np.isfinite(robot.posture).all()


def test_posture_takes_less_than_fifty_milliseconds() -> None:
    text = biped()
    load_robot(text)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        load_robot(text)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05


def test_a_trunk_its_waist_cannot_hold_up_leans_until_it_can() -> None:
    """A heavy trunk in front of a waist that is too weak for it; where the waist is strong, nothing moves."""
    weight, arm = 30.0 * 9.81, 0.1
    text = biped().replace("</robot>", trunk(effort=0.5 * weight * arm) + "</robot>")
    strong = biped().replace("</robot>", trunk(effort=2.0 * weight * arm) + "</robot>")
    assert angle(load_robot(strong), "waist") == 0.0
    robot = load_robot(text)
    assert_soles_on_the_ground(robot)
    answer = inverse_dynamics(
        robot, State.at_rest(robot), np.zeros(robot.nv), rule="transition_limited"
    )
    assert answer.certificate.status == "OK", answer.certificate.reasons
    i = robot.actuated.index("waist")
    assert abs(answer.tau[i]) == pytest.approx(0.25 * weight * arm, rel=0.05)


def test_a_waist_that_is_described_rests_where_it_is_asked_to() -> None:
    text = biped().replace("</robot>", trunk(effort=15.0) + "</robot>")
    assert angle(described(text, posture={"waist": 0.1}), "waist") == pytest.approx(0.1)


def trunk(effort: float) -> str:
    """Return a trunk of 30 kg, 0.1 m in front of and 0.3 m above a waist that pitches."""
    return f"""
  <link name="trunk"><inertial><origin xyz="0.1 0 0.3"/><mass value="30"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="waist" type="revolute"><parent link="pelvis"/><child link="trunk"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="{effort}" velocity="5"/></joint>"""
