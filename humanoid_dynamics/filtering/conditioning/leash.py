"""Place and heading of a reference whose soles both slide: they go on no faster than small steps can follow, and come back later."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.catching import bounded
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

PACE = (0.1, 0.6)  # speed of soles that slide, of sqrt(g height), and rad/s of soles that turn: small steps follow that
SLIPS = (0.18, 0.5)  # share of the height, and rad; by this much they may run ahead of that
SAME = 1e-9  # m or rad; what is no farther from what is asked is there
FLIES = 0.12  # speed of the height of the lower sole, of sqrt(g height); soles that rise or sink faster do not slide


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
        self._model, self._data, self._p = robot.model, robot.data(), proportions
        speed = math.sqrt(proportions.gravity * proportions.height)
        self._pace, self._slips = (PACE[0] * speed, PACE[1]), (SLIPS[0] * proportions.height, SLIPS[1])
        self._flies = FLIES * speed
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self._X, self._turned, self.holds = pin.SE3.Identity(), 0.0, False
        self._last: Matrix | None = None
        self._left = self._slips

    def let_go(self) -> pin.SE3:
        """Return by what the last posture was moved, and hold no more: who asked goes on from there."""
        X, self._X, self._turned, self.holds = self._X, pin.SE3.Identity(), 0.0, False
        return X

    def hold(self, q: Vector, gap: float) -> Vector:
        """Return a posture where and how it may be by now.

        Args:
            q: (nq,) configuration.
            gap: Time since the last one [s].
        """
        asked = self._see(q)
        soles, last = self._moved(asked), self._last
        if last is not None:
            lower = min(soles[0, 2], soles[1, 2]) - min(last[0, 2], last[1, 2])
            if abs(lower) <= self._flies * gap:
                self._pull(asked, soles, last, gap)
                soles = self._moved(asked)
        self._last = soles
        if not self.holds:
            return q
        q = np.array(q)
        q[:7] = pin.SE3ToXYZQUAT(self._X * pin.XYZQUATToSE3(q[:7]))
        return q

    def _pull(self, asked: Matrix, soles: Matrix, last: Matrix, gap: float) -> None:
        """Move and turn what is asked so that soles slide and turn as far as they may, and come back where they may go farther."""
        slid, turned = _common(soles[:, :2] - last[:, :2]), _common_turn(soles[:, 3] - last[:, 3])
        off = (soles[:, :2] - asked[:, :2]).mean(axis=0)
        steps = self._pace[0] * gap, self._pace[1] * gap
        most = self._left[0] + steps[0], self._left[1] + steps[1]
        goes = bounded(slid + bounded(-off, steps[0]), most[0])
        turns = _clip(turned + _clip(-self._turned, steps[1]), most[1])
        self._left = min(most[0] - math.hypot(*goes.tolist()), self._slips[0]), min(most[1] - abs(turns), self._slips[1])
        way, turn = goes - slid, turns - turned
        self.holds = math.hypot(*(off + way).tolist()) > SAME or abs(self._turned + turn) > SAME
        if not self.holds:
            self.let_go()
            return
        R, middle = pin.utils.rotate("z", turn), np.array([*soles[:, :2].mean(axis=0), 0.0])
        self._X = pin.SE3(R, middle - R @ middle + np.array([*way, 0.0])) * self._X
        self._turned = math.remainder(self._turned + turn, math.tau)

    def _see(self, q: Vector) -> Matrix:
        """Return middles of both soles [m] and their headings [rad], (2, 4)."""
        model, data = self._model, self._data
        pin.forwardKinematics(model, data, q)
        seen = np.empty((2, 4))
        for foot, (sole, middle) in enumerate(zip(self._p.soles, self._p.centres, strict=True)):
            place = pin.updateFramePlacement(model, data, sole)
            seen[foot, :3], R = place.act(middle), place.rotation
            seen[foot, 3] = math.atan2(R[1, 0], R[0, 0])
        return seen

    def _moved(self, seen: Matrix) -> Matrix:
        """Return soles as they are where the posture is held."""
        moved = np.array(seen)
        moved[:, :3] = seen[:, :3] @ self._X.rotation.T + self._X.translation
        moved[:, 3] += self._turned
        return moved


def _common(ways: Matrix) -> Vector:
    """Return what two ways have in common: the shortest one between them."""
    across = ways[1] - ways[0]
    share = min(max(float(-ways[0] @ across) / max(float(across @ across), 1e-12), 0.0), 1.0)
    return np.asarray(ways[0] + share * across)


def _common_turn(turns: Vector) -> float:
    """Return what two turns have in common."""
    left, right = (math.remainder(turn, math.tau) for turn in turns.tolist())
    return math.copysign(min(abs(left), abs(right)), left) if left * right > 0.0 else 0.0


def _clip(x: float, most: float) -> float:
    return min(max(x, -most), most)
