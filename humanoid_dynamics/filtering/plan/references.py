# SPDX-License-Identifier: Apache-2.0
"""From plans to the task references of the tick."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.plan.geometry import BASE, WalkGeometry, rotation_about_z
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.filtering.plan.state import PhaseKind, WalkState
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

UP = read_only([0.0, 0.0, 1.0])


class TaskReferences:
    """Targets of the tick for one robot.

    Joints of the legs follow from base and soles; those of the upper body keep the posture of the start.
    """

    def __init__(
        self, robot: RobotModel, geometry: WalkGeometry, q: Vector, settings: PlanSettings
    ) -> None:
        self._pole = geometry.rate / settings.turn_time
        self._geometry, self._robot = geometry, robot
        self._posture = np.array(q)
        self._upright = pin.Quaternion(robot.posture[3:7]).matrix()
        model, legs = robot.model, set(geometry.legs.ravel().tolist())
        self._q_legs = np.array(
            [
                model.joints[i].idx_q + k
                for i in range(2, model.njoints)
                for k in range(model.joints[i].nq)
                if model.joints[i].nq == model.joints[i].nv
                and model.joints[i].idx_v + k - BASE in legs
            ],
            dtype=np.intp,
        )
        self._v_legs = geometry.legs.ravel() + BASE

    def build(self, state: WalkState, com: Matrix) -> Target:
        """Return the target of a state.

        Args:
            state: The state of walking.
            com: (3, 3) centre of mass with two derivatives, one a row.
        """
        nv = self._robot.nv
        q, v, a = self._posture.copy(), np.zeros(nv), np.zeros(nv)
        R = rotation_about_z(state.base[0]) @ self._upright
        q[:3], q[3:7] = state.q[:3], pin.Quaternion(R).coeffs()
        v[3:6], a[3:6] = R[2] * state.base[1], R[2] * state.base[2]
        q[self._q_legs], v[self._v_legs] = state.q[self._q_legs], state.v[self._v_legs]
        place, turn, rate, second = self._soles(state)
        return Target(
            self.touches(state),
            com[0],
            com[1],
            com[2],
            q,
            v,
            a,
            place,
            turn,
            rate,
            second,
            np.zeros(2),
            np.tile(UP, (2, 1)),
            self._until(state),
            time=state.time,
        )

    def touches(self, state: WalkState) -> tuple[bool, bool]:
        """Return which soles are to bear load."""
        if state.kind is PhaseKind.SINGLE and state.elapsed < state.duration - 1e-9:
            return state.foot != 0, state.foot != 1
        return True, True

    def sole_origin(self, foot: int, middle: Vector, heading: float) -> Vector:
        """Return the origin of a sole on the ground from its middle, seen from above."""
        g = self._geometry
        turned = rotation_about_z(heading + float(g.toe_out[foot])) @ g.middle[foot]
        return np.array([middle[0] - turned[0], middle[1] - turned[1], -turned[2]])

    def sole_middle(self, foot: int, origin: Vector, heading: float) -> Vector:
        """Return the middle of a sole from its origin, seen from above."""
        g = self._geometry
        turned = rotation_about_z(heading + float(g.toe_out[foot])) @ g.middle[foot]
        return np.asarray(origin[:2] + turned[:2])

    def turn_base(self, state: WalkState, dt: float) -> None:
        """Let the heading of the base follow that of the feet, critically damped, by one tick."""
        goal = float(state.heading.mean())
        if state.kind is PhaseKind.SINGLE:
            goal = 0.5 * float(state.heading[1 - state.foot] + state.landing[2])
        angle, rate, _ = state.base.tolist()
        second = self._pole * (self._pole * (goal - angle) - 2.0 * rate)
        state.base[:] = angle + dt * rate, rate + dt * second, second

    def note_landing(self, state: WalkState, foot: int, place: Vector, turn: Matrix) -> None:
        """Take over where a sole stands; headings stay near that of the base, whatever its number of turns."""
        heading = float(np.arctan2(turn[1, 0], turn[0, 0]) - self._geometry.toe_out[foot])
        heading += 2.0 * np.pi * round((float(state.base[0]) - heading) / (2.0 * np.pi))
        state.heading[foot] = heading
        state.foothold[foot] = self.sole_middle(foot, place, heading)

    def _soles(self, state: WalkState) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        place, turn = np.zeros((2, 3)), np.zeros((2, 3, 3))
        rate, second = np.zeros((2, 6)), np.zeros((2, 6))
        for foot in (0, 1):
            heading = float(state.heading[foot])
            if state.kind is PhaseKind.SINGLE and foot == state.foot:
                swing = state.swing
                place[foot], heading = swing[0, :3], float(swing[0, 3])
                rate[foot, :3], rate[foot, 5] = swing[1, :3], swing[1, 3]
                second[foot, :3], second[foot, 5] = swing[2, :3], swing[2, 3]
            else:
                place[foot] = self.sole_origin(foot, state.foothold[foot], heading)
            turn[foot] = rotation_about_z(heading + float(self._geometry.toe_out[foot]))
        return place, turn, rate, second

    def _until(self, state: WalkState) -> Vector:
        until = np.full(2, np.inf)
        if state.kind is PhaseKind.DOUBLE:
            until[state.foot] = max(state.duration - state.elapsed, 0.0)
        return until
