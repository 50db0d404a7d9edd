# SPDX-License-Identifier: Apache-2.0
"""From a target and a state to the accelerations the tick wishes for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BASE, DynamicsTerms
from humanoid_dynamics.filtering.ticks.wish_kernels import SETTLES, update_wishes
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

SMALLEST = 0.02  # m; feet nearer to each other, or a centre of mass lower, have no sideways
TARGET = 65  # numbers of a target beside its velocities and accelerations
LEAN = math.radians(
    15.0
)  # rad; a reference leans by 55 deg at most, and who leans by 70 deg has fallen
CUSHION = 40.0  # 1/s; how a swinging sole comes to rest above the ground
DEPTH = 0.002  # m; it may go this far below
MEASURED_DAMPING = 0.08  # share of the damping of standing soles that is left where the state is measured: the ground does the rest
CAPTURE = (
    1.3,
    0.03,
)  # the pivot is asked to go so many times as far as the capture point is off, or so far [m], sideways on two soles
EDGE = (
    0.01,
    0.02,
)  # m; forward it is asked to stay so far inside the soles, or to go so far beyond the capture point
STEPPING = 0.03  # m; a robot on one sole whose capture point is off by more is caught by a step
HARDEST_RISE = 60.0  # m/s^2
HARDEST_LANDING = 120.0  # m/s^2; how fast a standing sole is brought to rest at most


@dataclass(frozen=True)
class TaskGains:
    """How strongly deviations are corrected, each with stiffness [1/s^2] and damping [1/s].

    Attributes:
        com: Centre of mass, seen from above.
        height: Its height.
        base: Orientation of the base.
        swing: Swinging soles.
        joints: Joints.
        stance: Standing soles.
    """

    com: tuple[float, float] = (20.0, 9.0)
    height: tuple[float, float] = (30.0, 11.0)
    base: tuple[float, float] = (80.0, 18.0)
    swing: tuple[float, float] = (400.0, 40.0)
    joints: tuple[float, float] = (60.0, 15.0)
    stance: tuple[float, float] = (900.0, 150.0)


class TaskReferences:
    """Accelerations that bring the robot to its target.

    Attributes:
        com: (3,) of the centre of mass [m/s^2].
        base: (3,) angular, in axes of the base [rad/s^2].
        joints: (na,) of all coordinates but those of the base.
        soles: (2, 6) of the soles, in axes of each; of standing ones, what brings them to rest where they stand.
        up: (2, 4, 6) rows that give the upward acceleration of the corners of a swinging sole.
        rise: (2, 4) what those must at least be, so that corners stay above the ground [m/s^2].
        load: (2,) largest push on each sole [N].
        height: (2,) height of the lowest corner of each sole over the ground [m].
        upright: (1,) how many times more than usual the orientation of the base counts: the more it leans off the wanted one.
    """

    def __init__(
        self,
        robot: RobotModel,
        gains: TaskGains,
        corners: tuple[Matrix, Matrix],
    ) -> None:
        """Take the memory.

        Args:
            robot: A robot with a free base.
            gains: How deviations are corrected.
            corners: (4, 3) corners of each sole in its frame [m].
        """
        self._corners = corners
        self.up, self.rise, self.height, self.load = (
            np.zeros((2, 4, 6)),
            np.zeros((2, 4)),
            np.zeros(2),
            np.full(2, np.inf),
        )
        self.upright = np.ones(1)
        self._model = robot.model
        self.com, self.base, self.soles = np.zeros(3), np.zeros(3), np.zeros((2, 6))
        self.joints: Vector = np.zeros(robot.nv - BASE)
        self._gravity, self._downhill = (
            float(np.linalg.norm(robot.model.gravity.linear)),
            np.array(robot.model.gravity.linear[:2]),
        )
        self._kernel = compile_kernel(update_wishes)
        constants = (HARDEST_LANDING, CUSHION, DEPTH, HARDEST_RISE, MEASURED_DAMPING, LEAN)
        pairs = (gains.com, gains.height, gains.base, gains.swing, gains.joints, gains.stance)
        self._fixed = np.array([*np.ravel(pairs), *constants]), np.array(corners)
        self._written = (
            self.com,
            self.base,
            self.joints,
            self.soles,
            self.up,
            self.rise,
            self.height,
            self.upright,
        )
        self.seen = (*self._written[:-1], self.load, self.upright)  # as programs read them
        self._wanted, self._stands = np.zeros(TARGET + 2 * robot.nv), np.zeros(2, dtype=np.intp)

    def update(
        self,
        target: Target,
        q: Vector,
        v: Vector,
        terms: DynamicsTerms,
        *,
        pull: float = 1.0,
        settled: tuple[bool, bool] = (True, True),
    ) -> None:
        """Compute the wishes.

        Args:
            target: What is wanted.
            q: (nq,) configuration.
            v: (nv,) velocity.
            terms: Terms of this state.
            pull: Share of the stiffness that holds standing soles in place; zero where the state is measured.
            settled: Which standing soles lie on their ground; others are drawn there fast.
        """
        self._stands[0], self._stands[1] = map(_mark, target.touches, settled)
        error = pin.difference(self._model, q, target.q)
        self._gather(target)
        state = (
            terms.com,
            terms.com_rate,
            terms.place,
            terms.turn,
            terms.twist,
            terms.drift,
            terms.R_WB,
        )
        self._kernel(self._wanted, self._stands, pull, error, v, state, self._fixed, self._written)
        if pull == 0.0:
            self._ask_soles(target, terms)

    def _ask_soles(self, target: Target, terms: DynamicsTerms) -> None:
        """Ask the soles of a measured robot for no more than helps: what they cannot give is paid for with the body."""
        height = float(terms.com[2] - target.ground.max())
        if height < SMALLEST:
            return
        square = self._gravity / height
        off = terms.com[:2] - target.com[:2]
        capture = off + (terms.com_rate[:2] - target.com_rate[:2]) / np.sqrt(square)
        pivot = off - (self.com[:2] - target.com_acceleration[:2]) / square
        if target.touches[0] != target.touches[1]:
            self._spare_height(0 if target.touches[0] else 1, target, terms, capture, pivot)
        elif all(target.touches) and np.isinf(target.until).all():  # no sole is about to be lifted
            self._spare_body(target, terms, capture, pivot)

    def _spare_height(
        self, foot: int, target: Target, terms: DynamicsTerms, capture: Vector, pivot: Vector
    ) -> None:
        """Ask a sole that stands alone for no pivot before or behind it where only a step catches the robot.

        It would be asked for less and less weight otherwise: a robot that falls freely does not topple meanwhile, but it falls.
        """
        ahead = terms.turn[foot, :2, 0]
        size = float(np.hypot(*ahead))
        if capture @ capture < STEPPING**2 or size < SMALLEST:
            return
        square = self._gravity / float(terms.com[2] - target.ground.max())
        planned = target.com[:2] + (self._downhill - target.com_acceleration[:2]) / square
        reach = self._reach((foot,), terms, ahead / size) - float(planned @ ahead) / size
        self._bound_pivot(
            ahead / size,
            float(pivot @ ahead) / size,
            (float(reach.min()), float(reach.max())),
            square,
        )

    def _spare_body(
        self, target: Target, terms: DynamicsTerms, capture: Vector, pivot: Vector
    ) -> None:
        """Ask for no more than brings the capture point back: what soles can give needs no turning of the body."""
        across = terms.place[0, :2] - terms.place[1, :2]
        apart = float(np.hypot(*across))
        if apart < SMALLEST:
            return
        square = self._gravity / float(terms.com[2] - target.ground.max())
        sideways = across / apart
        ahead = np.array([sideways[1], -sideways[0]])
        most = max(CAPTURE[0] * abs(float(sideways @ capture)), CAPTURE[1])
        self._bound_pivot(sideways, float(sideways @ pivot), (-most, most), square)
        reach, falls = (
            self._reach((0, 1), terms, ahead)
            - float((target.com[:2] + self._downhill / square) @ ahead),
            float(ahead @ capture),
        )
        bounds = (
            min(float(reach.min()) + EDGE[0], falls - EDGE[1]),
            max(float(reach.max()) - EDGE[0], falls + EDGE[1]),
        )
        self._bound_pivot(ahead, float(ahead @ pivot), bounds, square)

    def _reach(self, feet: tuple[int, ...], terms: DynamicsTerms, way: Vector) -> Vector:
        """Return how far the corners of soles are along a way, seen from above [m]."""
        return (
            np.vstack(
                [terms.place[foot] + self._corners[foot] @ terms.turn[foot].T for foot in feet]
            )[:, :2]
            @ way
        )

    def _bound_pivot(
        self, way: Vector, asked: float, bounds: tuple[float, float], square: float
    ) -> None:
        """Take from the wished acceleration what would need the pivot beyond bounds along a way."""
        self.com[:2] += square * (asked - min(max(asked, bounds[0]), bounds[1])) * way

    def _gather(self, target: Target) -> None:
        """Write the target in one row, as the kernel reads it."""
        places = (
            target.ground,
            target.normal.ravel(),
            target.sole_place.ravel(),
            target.sole_turn.ravel(),
        )
        rates = (target.sole_rate.ravel(), target.sole_acceleration.ravel())
        np.concatenate(
            (
                target.com,
                target.com_rate,
                target.com_acceleration,
                *places,
                *rates,
                target.v,
                target.a,
            ),
            out=self._wanted,
        )


def _mark(stands: bool, settled: bool) -> int:
    return int(stands) if settled else SETTLES * int(stands)
