# SPDX-License-Identifier: Apache-2.0
"""Tables of one robot for its plans, computed at load: stance, reach, vertical force and momentum of swinging legs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.filtering.plan.settings import RANK, SMALL, PlanSettings
from humanoid_dynamics.filtering.proportions import Proportions, inner_rectangle
from humanoid_dynamics.filtering.start import Placer
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.rotation import skew

LEG_JOINTS = 6
BASE = 6
WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True, eq=False)
class WalkGeometry:
    """What the plans know about a robot.

    Attributes:
        mass: Mass [kg].
        gravity: Size of gravity [m/s^2].
        height: Height of the centre of mass over the ground while walking [m].
        rate: Pendulum rate sqrt(gravity / height) [1/s].
        leg: Length of the straight leg [m].
        middle: (2, 3) middles of the inner rectangles of the soles, in their frames [m].
        half: (2, 2) half sizes of these rectangles, forward and sideways [m].
        toe_out: (2,) heading of each sole in the resting posture, from that of the base [rad].
        width: Distance of the middles of the soles across, standing [m].
        least_width: Least distance that keeps the soles apart [m].
        most_width: Largest distance [m].
        stride: Longest step from foot to foot [m].
        friction: Friction coefficient of the soles, the lower one [-].
        force: Largest vertical force of one leg by the torque limits, over the weight, at heights of ``force_height`` [-].
        force_height: Heights of the centre of mass of that table [m].
        swing_momentum: (2, 3, 3) centroidal angular momentum of a leg by the velocity of its foot relative to the pelvis [kg·m].
        legs: (2, 6) places of the leg joints in the velocity, behind the base.
    """

    mass: float
    gravity: float
    height: float
    rate: float
    leg: float
    middle: Matrix
    half: Matrix
    toe_out: Vector
    width: float
    least_width: float
    most_width: float
    stride: float
    friction: float
    force: Vector
    force_height: Vector
    swing_momentum: Matrix
    legs: Matrix


def find_legs(robot: RobotModel) -> list[list[int]]:
    """Return the joints of the two legs, each from the hip to the sole, as indices of the model.

    Raises:
        UnsupportedRobotError: If a leg has fewer than six joints, or a sole is not a polygon.
    """
    soles = find_soles(robot)
    supports = [
        [int(i) for i in robot.model.supports[robot.model.frames[sole.frame].parentJoint]]
        for sole in soles
    ]
    common = set(supports[0]) & set(supports[1])
    legs = [[i for i in support if i not in common and i > 0] for support in supports]
    for sole, leg in zip(soles, legs, strict=True):
        freedom = sum(robot.model.joints[i].nv for i in leg)
        if freedom < LEG_JOINTS:
            raise UnsupportedRobotError(
                "walking by command",
                [f"{sole.name}: {freedom} joints"],
                "requires two legs of at least six joints, received",
            )
        if len(sole.vertices) < 3:
            raise UnsupportedRobotError(
                "walking by command",
                [f"{sole.name}: {len(sole.vertices)} corners"],
                "requires soles that are polygons, received",
            )
    return legs


def measure_geometry(
    robot: RobotModel, proportions: Proportions, settings: PlanSettings
) -> tuple[WalkGeometry, Vector]:
    """Compute the tables of a robot; return them and the configuration in which it stands."""
    legs = find_legs(robot)
    soles, data = find_soles(robot), robot.data()
    _place_frames(robot, data, robot.posture)
    rectangles = [inner_rectangle(np.asarray(s.vertices), 0.0) for s in soles]
    middle = np.array([r.mean(axis=0) for r in rectangles])
    half = np.array([0.5 * np.ptp(r[:, :2], axis=0) for r in rectangles])
    places = np.array([data.oMf[s.frame].act(m) for s, m in zip(soles, middle, strict=True)])
    turns = [data.oMf[s.frame].rotation for s in soles]
    least = float(half[:, 1].sum()) + settings.foot_gap
    width = max(float(places[0, 1] - places[1, 1]), least)
    height, gravity = _walking_height(proportions, data, settings), proportions.gravity
    columns = [
        np.concatenate(
            [np.arange(robot.model.joints[i].nv) + robot.model.joints[i].idx_v for i in leg]
        )
        for leg in legs
    ]
    toe_out = np.array([np.arctan2(R[1, 0], R[0, 0]) for R in turns])
    stances = StandingPlaces(robot, (middle, toe_out, width))
    heights = height * np.array(settings.force_heights)
    forces = [_vertical_force(robot, data, proportions, columns, stances.find(h)) for h in heights]
    start = stances.find(height)
    return WalkGeometry(
        proportions.mass,
        gravity,
        height,
        float(np.sqrt(gravity / height)),
        proportions.leg,
        middle,
        half,
        toe_out,
        width,
        least,
        max(proportions.widest, width),
        settings.step_share * proportions.leg,
        float(min(s.friction for s in soles)),
        np.array(forces),
        heights,
        _swing_momentum(robot, data, proportions, columns, start),
        np.array([v[:LEG_JOINTS] - BASE for v in columns]),
    ), start


class StandingPlaces:
    """Configurations in which a robot stands on both soles with its centre of mass at a height."""

    def __init__(self, robot: RobotModel, stance: tuple[Matrix, Vector, float]) -> None:
        middle, toe_out, width = stance
        self._robot, self._placer = robot, Placer(robot)
        self._turn = np.array([rotation_about_z(float(angle)) for angle in toe_out])
        self._place = np.zeros((2, 3))
        for foot, side in enumerate((0.5, -0.5)):
            self._place[foot] = [0.0, side * width, 0.0]
            self._place[foot] -= self._turn[foot] @ middle[foot]

    def find(self, height: float) -> Vector:
        """Return the configuration nearest to the resting posture."""
        robot, com = self._robot, np.array([0.0, 0.0, height])
        q = np.array(robot.posture)
        return self._placer.place(stand_still(q, robot.nv, com, self._place, self._turn))


def rotation_about_z(angle: float) -> Matrix:
    """Return the rotation by an angle about the vertical axis."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _place_frames(robot: RobotModel, data: pin.Data, q: Vector) -> None:
    pin.computeJointJacobians(robot.model, data, q)
    pin.updateFramePlacements(robot.model, data)


def _walking_height(proportions: Proportions, data: pin.Data, settings: PlanSettings) -> float:
    """Return the height of the centre of mass at which legs reach both ends of a common step."""
    hips, ankles = (
        [data.oMf[p.frame].act(p.p_F) for p in pair]
        for pair in (proportions.hips, proportions.ankles)
    )
    drop = float(np.mean([h[2] - a[2] for h, a in zip(hips, ankles, strict=True)]))
    side = float(np.mean([abs(h[1] - a[1]) for h, a in zip(hips, ankles, strict=True)]))
    reach = settings.leg_extension * proportions.leg
    ahead = 0.5 * settings.common_step * proportions.leg
    most = float(np.sqrt(max(reach**2 - ahead**2 - side**2, 0.0)))
    return proportions.height - max(drop - most, 0.0)


def _vertical_force(
    robot: RobotModel, data: pin.Data, proportions: Proportions, columns: list[Vector], q: Vector
) -> float:
    """Return the largest vertical force of one leg by its torque limits in a configuration, in weights."""
    _place_frames(robot, data, q)
    least = np.inf
    for foot, frame in enumerate(proportions.soles):
        J = pin.getFrameJacobian(robot.model, data, frame, WORLD_AXES)
        arm = data.oMf[frame].rotation @ proportions.centres[foot]
        row = np.abs((J[:3] - skew(arm) @ J[3:])[2, columns[foot]])
        effort = robot.limits.effort[columns[foot]]
        usable = np.isfinite(effort) & (effort > 0.0) & (row > SMALL)
        least = min(least, float(np.min(effort[usable] / row[usable], initial=np.inf)))
    return least / (proportions.mass * proportions.gravity)


def _swing_momentum(
    robot: RobotModel, data: pin.Data, proportions: Proportions, columns: list[Vector], q: Vector
) -> Matrix:
    """Return the centroidal angular momentum of each leg by the velocity of its foot, which does not turn."""
    pin.computeCentroidalMap(robot.model, data, q)
    _place_frames(robot, data, q)
    found = np.zeros((2, 3, 3))
    for foot, frame in enumerate(proportions.soles):
        J = pin.getFrameJacobian(robot.model, data, frame, WORLD_AXES)[:, columns[foot]]
        rates = np.linalg.lstsq(J, np.eye(6)[:, :3], rcond=RANK)[0]
        found[foot] = data.Ag[3:, columns[foot]] @ rates
    return found
