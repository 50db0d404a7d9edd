# SPDX-License-Identifier: Apache-2.0
"""Place and heading of a reference whose soles both slide: they go on no faster than small steps can follow, and come back later."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.filtering.conditioning.origin import carry
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

PACE = (
    0.1,
    0.6,
)  # speed of soles that slide, of sqrt(g height), and rad/s of soles that turn: small steps follow that
SLIPS = (0.18, 0.5)  # share of the height, and rad; by this much they may run ahead of that
FLIES = 0.12  # speed of the height of the lower sole, of sqrt(g height); soles that rise or sink faster do not slide

SAME = 1e-9  # m or rad; what is no farther from what is asked is there
LEAST = 1e-12  # m^2
COSINE, SINE, X, Y, TURNED, LEFT_WAY, LEFT_TURN = range(7)  # places in what is known of a leash
PACE_WAY, PACE_TURN, SLIP_WAY, SLIP_TURN, RISES = range(5)  # places in its limits


Soles = list[list[float]]  # middle [m] and heading [rad] of each


class Leash:
    """Holds postures back where both soles move alike: the whole posture is moved and turned over the ground, its joints stay.

    Attributes:
        holds: Whether the last posture is elsewhere than it was asked.
    """

    def __init__(self, robot: RobotModel, proportions: Proportions) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            proportions: Its measures.
        """
        self._model, self._data = robot.model, robot.data()
        self._placements = Placements(self._model, self._data)
        frames = [self._model.frames[sole] for sole in proportions.soles]
        points = [
            frame.placement.act(middle)
            for frame, middle in zip(frames, proportions.centres, strict=True)
        ]
        self._joints: Indices = np.array([frame.parentJoint for frame in frames], dtype=np.intp)
        self._soles = np.array(
            [
                [*point, *frame.placement.rotation[:, 0]]
                for frame, point in zip(frames, points, strict=True)
            ]
        )
        speed = math.sqrt(proportions.gravity * proportions.height)
        self._limits = np.array(
            [PACE[0] * speed, PACE[1], SLIPS[0] * proportions.height, SLIPS[1], FLIES * speed]
        )
        self._last = np.zeros((2, 4))
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self._state, self.holds, self._begun = (
            np.array([1.0, 0.0, 0.0, 0.0, 0.0, *self._limits[SLIP_WAY : SLIP_TURN + 1]]),
            False,
            False,
        )

    def let_go(self) -> pin.SE3:
        """Return by what the last posture was moved, and hold no more: who asked goes on from there."""
        X, self.holds = self._moved, False
        self._state[: TURNED + 1] = 1.0, 0.0, 0.0, 0.0, 0.0
        return X

    def hold(self, q: Vector, gap: float) -> Vector:
        """Return a posture where and how it may be by now.

        Args:
            q: (nq,) configuration.
            gap: Time since the last one [s].
        """
        pin.forwardKinematics(self._model, self._data, q)
        if not self._placements.shared:
            self._placements.refresh()
        seen = self._placements.poses, self._joints, self._soles
        self.holds = hold_soles(
            seen, gap if self._begun else -1.0, self._limits, self._state, self._last
        )
        self._begun = True
        return carry(self._moved, q) if self.holds else q

    @property
    def _moved(self) -> pin.SE3:
        """By what the posture is moved."""
        c, s, x, y = self._state[: Y + 1].tolist()
        return pin.SE3(
            np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([x, y, 0.0])
        )


def hold_soles(
    soles: tuple[Matrix, Indices, Matrix], gap: float, limits: Vector, state: Vector, last: Matrix
) -> bool:
    """Move and turn what is asked, over the ground, so that soles slide and turn no faster than they may; return whether it is elsewhere.

    Args:
        soles: (nj, 12) poses of the joints, rotations column by column, then places [m]; (2,) those that carry left and right sole; (2, 6)
            middle of each sole [m] and its forward axis, in axes of its joint.
        gap: Time since the last posture [s]; negative where there is none.
        limits: Speeds [m/s] and [rad/s] of soles that slide and turn, by how much they may run ahead of these [m] and [rad], and the speed
            of the height of soles that fly [m/s].
        state: Cosine and sine of what all is turned by, by what it is moved [m], how far it is turned [rad], and how far soles may run
            ahead now [m] and [rad]; overwritten.
        last: (2, 4) middles of the soles [m] and their headings [rad], where they were held last; overwritten.
    """
    asked = see_soles(*soles)
    moved = move_soles(asked, state)
    holds = bool(state[X] != 0.0 or state[Y] != 0.0 or state[SINE] != 0.0)
    lower = min(moved[0][2], moved[1][2]) - float(last[:, 2].min())
    if gap >= 0.0 and abs(lower) <= limits[RISES] * gap:
        holds = pull_soles(asked, moved, last.tolist(), gap, limits, state)
        moved = move_soles(asked, state)
    last[:] = moved
    return holds


def see_soles(poses: Matrix, joints: Indices, points: Matrix) -> Soles:
    """Return middles and headings of both soles."""
    moved = poses[joints]
    seen = np.matmul(points.reshape(2, 2, 3), moved[:, :9].reshape(2, 3, 3))  # column by column
    seen[:, 0] += moved[:, 9:]
    return [[*middle, math.atan2(y, x)] for middle, (x, y, _) in seen.tolist()]


def move_soles(asked: Soles, state: Vector) -> Soles:
    """Return soles as they are where the posture is held."""
    c, s, way_x, way_y, turned = state[: TURNED + 1].tolist()
    return [
        [c * x - s * y + way_x, s * x + c * y + way_y, z, heading + turned]
        for x, y, z, heading in asked
    ]


def pull_soles(
    asked: Soles, soles: Soles, last: Soles, gap: float, limits: Vector, state: Vector
) -> bool:
    """Let soles slide and turn as far as they may, and come back where they may go farther; return whether they are elsewhere then."""
    ways = [[now[k] - was[k] for k in range(4)] for now, was in zip(soles, last, strict=True)]
    x, y = common_way(*ways[0][:2], *ways[1][:2])
    turned = common_turn(within(ways[0][3]), within(ways[1][3]))
    off_x, off_y = (0.5 * (soles[0][k] - asked[0][k] + soles[1][k] - asked[1][k]) for k in range(2))
    step, turn = limits[PACE_WAY] * gap, limits[PACE_TURN] * gap
    most, widest = state[LEFT_WAY] + step, state[LEFT_TURN] + turn
    back = shorter(off_x, off_y, step)
    goes_x, goes_y = x - back * off_x, y - back * off_y
    share = shorter(goes_x, goes_y, most)
    goes_x, goes_y = share * goes_x, share * goes_y
    turns = clip(turned + clip(-state[TURNED], turn), widest)
    state[LEFT_WAY] = min(most - math.hypot(goes_x, goes_y), limits[SLIP_WAY])
    state[LEFT_TURN] = min(widest - abs(turns), limits[SLIP_TURN])
    way_x, way_y, angle = goes_x - x, goes_y - y, turns - turned
    if not (math.hypot(off_x + way_x, off_y + way_y) > SAME or abs(state[TURNED] + angle) > SAME):
        state[COSINE], state[SINE], state[X], state[Y], state[TURNED] = 1.0, 0.0, 0.0, 0.0, 0.0
        return False
    c, s = math.cos(angle), math.sin(angle)
    middle_x, middle_y = 0.5 * (soles[0][0] + soles[1][0]), 0.5 * (soles[0][1] + soles[1][1])
    px, py = state[X] - middle_x, state[Y] - middle_y
    state[X], state[Y] = c * px - s * py + middle_x + way_x, s * px + c * py + middle_y + way_y
    cosine, sine = state[COSINE], state[SINE]
    state[COSINE], state[SINE] = c * cosine - s * sine, s * cosine + c * sine
    state[TURNED] = within(state[TURNED] + angle)
    return True


def common_way(ax: float, ay: float, bx: float, by: float) -> tuple[float, float]:
    """Return what two ways have in common: the shortest one between them."""
    x, y = bx - ax, by - ay
    share = min(max(-(ax * x + ay * y) / max(x * x + y * y, LEAST), 0.0), 1.0)
    return ax + share * x, ay + share * y


def common_turn(left: float, right: float) -> float:
    """Return what two turns have in common."""
    return math.copysign(min(abs(left), abs(right)), left) if left * right > 0.0 else 0.0


def within(angle: float) -> float:
    """Return an angle from minus pi to pi."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


def shorter(x: float, y: float, most: float) -> float:
    """Return the share of a way that is no longer than it may be."""
    length = math.hypot(x, y)
    return 1.0 if length <= most else most / length


def clip(x: float, most: float) -> float:
    """Return a number that is not too large."""
    return min(max(x, -most), most)
