# SPDX-License-Identifier: Apache-2.0
"""Shares of load on legs with gears and closed loops: contact wrenches are those of the same tree with a motor in every joint."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.model.description import Description, FrameSpec, LoopSpec, SurfaceSpec

FEET = ("left_foot", "right_foot")
SHARE_RULES = ("transition", "procedure_4", "recommended_transition")
EXACT = 1e-12  # of the weight
KNEES = {"left_knee": ("left_hip_pitch", -1.3), "right_knee": ("right_hip_pitch", -1.3)}
ANKLES = {"left_ankle_pitch": ("left_knee", -0.6), "right_ankle_pitch": ("right_knee", -0.7)}
HIPS = {
    "right_hip_yaw": ("left_hip_yaw", 1.0),
    "left_hip_roll": ("left_hip_yaw", 0.8),
}  # the first joins both legs, as on a NAO
CRANK = """<link name="{s}_crank"><inertial><mass value="0.3"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{s}_motor" type="revolute"><parent link="{s}_thigh"/><child link="{s}_crank"/><origin xyz="0.06 0 -0.05"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="300" velocity="9"/></joint>
<link name="{s}_rod"><inertial><mass value="0.4"/><inertia ixx="2e-3" iyy="2e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{s}_rod_pin" type="revolute"><parent link="{s}_crank"/><child link="{s}_rod"/><origin xyz="0.07 0 0.02"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="1" velocity="9"/></joint>"""


def describe(robot, **keys):
    surfaces = {
        name: SurfaceSpec(
            FrameSpec(robot.surfaces[name].link, robot.surfaces[name].X_LC),
            robot.surfaces[name].vertices,
        )
        for name in FEET
    }
    posture = {
        joint.name: float(robot.posture[joint.q][0])
        for joint in robot.joints
        if joint.kind == "revolute"
    }
    return Description(surfaces=surfaces, posture=posture, **keys)


def geared(name, mimics):
    """A biped, and the same one with some joints that follow others."""
    plain = hd.load_robot(name)
    text = plain.urdf
    for follower, (leader, ratio) in mimics.items():
        end = text.index("</joint>", text.index(f'<joint name="{follower}"'))
        text = f'{text[:end]}<mimic joint="{leader}" multiplier="{ratio}"/>{text[end:]}'
    return plain, hd.load_robot(text, description=describe(plain))


def looped(kind):
    """A biped whose knees are turned by a crank and a rod, and the same tree, cut open, with a motor in every joint."""
    legs = hd.load_robot("legs12")
    text = legs.urdf.replace(
        "</robot>", "".join(CRANK.format(s=side) for side in ("left", "right")) + "</robot>"
    )
    tree = hd.load_robot(text, description=describe(legs))
    data, tip = tree.data(), pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.38]))
    pin.framesForwardKinematics(tree.model, data, tree.posture)
    loops = {}
    for side in ("left", "right"):
        X_WR, X_WS = (
            data.oMf[tree.model.getFrameId(f"{side}_{link}")] for link in ("rod", "shank")
        )
        loops[side] = LoopSpec(
            kind, FrameSpec(f"{side}_rod", tip), FrameSpec(f"{side}_shank", X_WS.actInv(X_WR * tip))
        )
    passive = tuple(
        f"{side}_{joint}" for side in ("left", "right") for joint in ("knee", "rod_pin")
    )
    return tree, hd.load_robot(text, description=describe(legs, loops=loops, passive=passive))


def wrenches(answer):
    return np.array(
        [np.concatenate((answer.wrenches[name].f_W, answer.wrenches[name].m_W)) for name in FEET]
    )


def check(plain, other, rule, state, a, shares):
    one, two = (
        hd.inverse_dynamics(robot, state, a, FEET, rule, load=shares) for robot in (plain, other)
    )
    assert {one.certificate.status, two.certificate.status} <= {
        "OK",
        "INFEASIBLE_CONTACT",
        "INCONSISTENT_CONTACT",
    }
    np.testing.assert_allclose(
        wrenches(two), wrenches(one), rtol=0.0, atol=EXACT * plain.mass * 9.81
    )
    assert two.verify().status == two.certificate.status
    assert two.verify(tau=1.01 * two.tau).residual > 1e-6 > two.verify().residual
    return one, two


def shares_of(rng):
    share = rng.uniform(0.0, 1.0)
    return ([1.0, 0.0], [share, 1.0 - share], [0.5, 0.5])


@pytest.mark.parametrize("rule", SHARE_RULES)
@pytest.mark.parametrize(
    "mimics", [KNEES, ANKLES, HIPS, KNEES | ANKLES | HIPS], ids=["knees", "ankles", "hips", "all"]
)
@pytest.mark.parametrize("name", ["legs12", "human28"])
def test_gears_in_legs_leave_shares_as_they_are(name, mimics, rule):
    """Torques follow by virtual work: the motor of a leader gives what its followers would, times their ratio."""
    plain, gears = geared(name, mimics)
    rng = np.random.default_rng(1)
    index = {joint: k for k, joint in enumerate(plain.actuated)}
    for shares in shares_of(rng):
        state = hd.State(
            pin.integrate(plain.model, plain.posture, 0.1 * rng.standard_normal(plain.nv)),
            0.1 * rng.standard_normal(plain.nv),
        )
        one, two = check(plain, gears, rule, state, 0.1 * rng.standard_normal(plain.nv), shares)
        expected = np.array(one.tau)
        for follower in sorted(
            mimics, key=lambda joint: mimics[joint][0] in mimics, reverse=True
        ):  # followers of followers first
            leader, ratio = mimics[follower]
            expected[index[leader]] += ratio * expected[index[follower]]
        np.testing.assert_allclose(
            two.tau,
            [expected[index[joint]] for joint in gears.actuated],
            rtol=0.0,
            atol=1e-11 * plain.mass * 9.81,
        )


@pytest.mark.parametrize("rule", SHARE_RULES)
@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_closed_loops_in_legs_leave_shares_as_they_are(kind, rule):
    """The base moves and the joints do not, so that loops stay closed."""
    tree, loops = looped(kind)
    rng, base = np.random.default_rng(2), np.arange(tree.nv) < 6
    for shares in shares_of(rng):
        state = hd.State(tree.posture, np.where(base, 0.1 * rng.standard_normal(tree.nv), 0.0))
        check(
            tree,
            loops,
            rule,
            state,
            np.where(base, 0.3 * rng.standard_normal(tree.nv), 0.0),
            shares,
        )


def test_with_limits_the_nearest_push_is_that_of_contacts_alone():
    """Gears take part in what limits decide only by what contacts leave to them."""
    plain, gears = geared("legs12", KNEES | HIPS)
    rng, decided = np.random.default_rng(3), 0
    for _ in range(30):
        state = hd.State(
            pin.integrate(plain.model, plain.posture, 0.05 * rng.standard_normal(plain.nv)),
            0.1 * rng.standard_normal(plain.nv),
        )
        one, two = (
            hd.inverse_dynamics(robot, state, np.zeros(plain.nv), FEET) for robot in (plain, gears)
        )
        if {one.certificate.path, two.certificate.path} == {"qp"} and min(
            one.certificate.torque_margin, two.certificate.torque_margin
        ) > 0.0:
            decided += 1
            np.testing.assert_allclose(
                wrenches(two), wrenches(one), rtol=0.0, atol=1e-6 * plain.mass * 9.81
            )
    assert decided > 5
