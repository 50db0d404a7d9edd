# SPDX-License-Identifier: Apache-2.0
"""Holding torques: what is sent while joint states come, stop coming, or are wrong."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.control.holding import HoldingStatus, HoldingTorques
from humanoid_dynamics.errors import UnknownNameError, UnsupportedRobotError

MASSIVE = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
WHEEL = f"""<robot name="wheel"><link name="world"/><link name="arm">
{MASSIVE.replace("<mass", '<origin xyz="1 0 0"/><mass')}</link>
<joint name="turn" type="continuous"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/><limit effort="50" velocity="9"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def human28():
    return hd.load_robot("human28")


@pytest.fixture
def held(human28):
    holding = HoldingTorques(human28)
    holding.observe(human28.actuated, posture(human28))
    return holding


def posture(robot):
    return np.array([robot.posture[robot.joint(name).q][0] for name in robot.actuated])


def asked(robot, positions):
    """The library's own answer, with the base where the left foot rests as in the posture."""
    q = np.array(robot.posture)
    for name, position in zip(robot.actuated, positions, strict=True):
        q[robot.joint(name).q] = position
    data = robot.data()
    foot = robot.surfaces[robot.stance[0]].frame
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    X_WC = pin.SE3(data.oMf[foot])
    pin.framesForwardKinematics(robot.model, data, q)
    q[:7] = pin.SE3ToXYZQUAT(X_WC * data.oMf[foot].inverse() * pin.XYZQUATToSE3(q[:7]))
    return hd.inverse_dynamics(robot, hd.State(q, np.zeros(robot.nv)), np.zeros(robot.nv))


class TestHolding:
    def test_posture(self, human28, held):
        command = held.command(0.0)
        np.testing.assert_allclose(command.tau, asked(human28, posture(human28)).tau, atol=1e-9)
        assert (command.status, command.reason) == ("HOLDING", "")

    def test_other_positions_with_the_foot_where_it_was(self, human28):
        rng = np.random.default_rng(1)
        holding = HoldingTorques(human28)
        for _ in range(5):
            positions = posture(human28) + 0.05 * rng.standard_normal(28)
            holding.observe(human28.actuated, positions)
            expected = np.clip(
                asked(human28, positions).tau, -human28.limits.effort[human28.actuated_v], np.inf
            )
            np.testing.assert_allclose(holding.command(0.0).tau, expected, atol=1e-9)

    def test_order_of_names_and_strangers_do_not_matter(self, human28, held):
        holding = HoldingTorques(human28)
        names, positions = (
            ["gripper", *reversed(human28.actuated)],
            np.concatenate(([np.nan], posture(human28)[::-1])),
        )
        assert holding.observe(names, positions)
        np.testing.assert_array_equal(holding.command(0.0).tau, held.command(0.0).tau)

    def test_joints_may_come_in_several_messages(self, human28, held):
        holding = HoldingTorques(human28)
        holding.observe(human28.actuated[:20], posture(human28)[:20])
        command = holding.command(0.0)
        assert command.status == "WAITING"
        assert (
            command.reason
            == f"no position yet of 8 joints: {', '.join(human28.actuated[20:24])}, ..."
        )
        np.testing.assert_array_equal(command.tau, 0.0)
        holding.observe(human28.actuated[20:], posture(human28)[20:])
        np.testing.assert_array_equal(holding.command(0.0).tau, held.command(0.0).tau)

    @pytest.mark.parametrize("rule", ["minimum_torque", "pseudo_inverse"])
    def test_rule(self, human28, rule):
        holding = HoldingTorques(human28, rule)
        holding.observe(human28.actuated, posture(human28))
        expected = hd.inverse_dynamics(
            human28, hd.State.at_rest(human28), np.zeros(human28.nv), rule=rule
        )
        np.testing.assert_allclose(holding.command(0.0).tau, expected.tau, atol=1e-9)

    @pytest.mark.parametrize("angle", [0.0, 1.0, 3.0, -2.5, 7.0])
    def test_continuous_joint(self, angle):
        """One kilogram, one metre out: its moment about the axle goes with the cosine."""
        robot = hd.load_robot(WHEEL)
        holding = HoldingTorques(robot)
        holding.observe(["turn"], np.array([angle]))
        assert holding.command(0.0).tau[0] == pytest.approx(-9.81 * np.cos(angle), abs=1e-9)

    def test_fixed_base_needs_no_stance(self, human28):
        robot = hd.load_robot("human28", root="fixed")
        holding = HoldingTorques(robot)
        holding.observe(robot.actuated, posture(robot))
        np.testing.assert_allclose(
            holding.command(0.0).tau,
            pin.rnea(robot.model, robot.data(), robot.posture, np.zeros(28), np.zeros(28)),
            atol=1e-9,
        )


class TestTrouble:
    def test_before_the_first_state(self, human28):
        command = HoldingTorques(human28).command(np.inf)
        assert (command.status, command.reason) == ("WAITING", "no joint state has come")
        np.testing.assert_array_equal(command.tau, np.zeros(28))

    def test_fading(self, held):
        full = held.command(0.0).tau
        for age, share in (
            (0.1, 1.0),
            (0.2, 0.8),
            (0.35, 0.5),
            (0.6, 0.0),
            (100.0, 0.0),
            (np.inf, 0.0),
            (np.nan, 0.0),
        ):
            command = held.command(age)
            np.testing.assert_allclose(command.tau, share * full, atol=1e-12)
            assert command.status == ("HOLDING" if age == 0.1 else "STALE")
        assert held.command(0.2).reason == "no good joint state for 0.1 s"

    @pytest.mark.parametrize(
        ("names", "positions", "reason"),
        [
            (["left_knee"], [np.nan], "joint state has a position that is not finite: left_knee"),
            (["left_knee"], [np.inf], "joint state has a position that is not finite: left_knee"),
            (["left_knee", "right_knee"], [0.1], "joint state has 2 names but 1 positions"),
            (["left_knee"], [], "joint state has 1 names but 0 positions"),
            ([], [], "joint state names no joint of human28"),
            (["elbow"], [0.1], "joint state names no joint of human28"),
        ],
    )
    def test_bad_state_keeps_the_last_good_torques(self, human28, held, names, positions, reason):
        good = held.command(0.0).tau
        assert not held.observe(names, np.array(positions))
        command = held.command(0.0)
        assert (command.status, command.reason) == ("INVALID_INPUT", reason)
        np.testing.assert_array_equal(command.tau, good)
        stale = held.command(1.0)
        assert stale.status == "STALE"
        assert reason.removeprefix("joint state ") in stale.reason
        assert held.observe(human28.actuated, posture(human28))
        assert held.command(0.0).status == "HOLDING"

    def test_bad_state_before_a_good_one(self, human28):
        holding = HoldingTorques(human28)
        holding.observe(["left_knee"], np.array([np.nan]))
        assert holding.command(0.0).status == "WAITING"
        assert "left_knee" in holding.command(0.0).reason

    def test_torques_stay_within_limits(self, human28):
        """Deep down on bent legs, leaning far out: more than the motors have."""
        robot = hd.load_robot("human28")
        positions = dict(zip(robot.actuated, posture(robot), strict=True)) | {
            "waist_pitch": 0.5,
            "left_hip_roll": 0.6,
            "right_hip_roll": 0.6,
        }
        holding = HoldingTorques(robot, "minimum_torque")
        holding.observe(list(positions), np.array(list(positions.values())))
        command = holding.command(0.0)
        limits = robot.limits.effort[robot.actuated_v]
        assert command.status == "INFEASIBLE"
        assert command.reason
        assert np.all(np.abs(command.tau) <= limits)

    def test_huge_positions_are_refused(self):
        robot = hd.load_robot(
            WHEEL.replace("continuous", "prismatic").replace(
                "<limit ", '<limit lower="-1e300" upper="1e300" '
            )
        )
        holding = HoldingTorques(robot)
        holding.observe(["turn"], np.array([0.5]))
        for position in (1e160, 1e308):
            holding.observe(["turn"], np.array([position]))
            assert np.isfinite(holding.command(0.0).tau).all()

    def test_every_status_is_explained(self, held):
        assert {"HOLDING", "WAITING", "STALE", "INFEASIBLE", "INVALID_INPUT"} == set(HoldingStatus)

    def test_joints_with_several_freedoms_are_refused_by_name(self):
        with pytest.raises(
            UnsupportedRobotError, match="several degrees of freedom: left_hip, left_shoulder"
        ):
            HoldingTorques(hd.load_robot("human16"))

    def test_unknown_rule(self, human28):
        with pytest.raises(UnknownNameError, match="no rule named 'best'"):
            HoldingTorques(human28, "best")
