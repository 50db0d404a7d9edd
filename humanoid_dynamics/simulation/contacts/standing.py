# SPDX-License-Identifier: Apache-2.0
"""Points that stand on level ground as they did in the last step: every one of them carries, none slides, and nobody else comes near.

Which points take part is known beforehand then, and all that does not change is prepared once for each set of them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.simulation.contacts.cone_problem import HARD, ConeAnswer
from humanoid_dynamics.simulation.contacts.cones import spread_softness
from humanoid_dynamics.simulation.contacts.contact_rows import Touching
from humanoid_dynamics.simulation.contacts.level_ground import LevelGround
from humanoid_dynamics.simulation.contacts.thresholds import CARRIES, NEAR
from humanoid_dynamics.simulation.steps.rows import (
    COMPLEMENTARITY,
    CONE,
    DEPTH,
    LOWEST,
    M_U,
    RESIDUAL,
    STOPS,
    V_MIDDLE,
    WITHIN,
)
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only

HALF, ZERO = (
    read_only(0.5),
    read_only(0.0),
)  # as arrays, with which numpy computes twice as fast as with numbers
MOST_SETS = 16


class StandingPoints:
    """A set of points, and room for the numbers of a step in which it stands; rows are all normals, then both tangents.

    Attributes:
        gap: (m,) distances from the ground [m].
        lowest: The least of them [m].
        normals: (nv, m) whitened rows along the normals, until the next step.
        free: (nv,) whitened velocity at the end without contacts, until the next step.
        missed: Largest velocity that is left along a row [m/s].
    """

    def __init__(self, ground: LevelGround, point: Indices, joints: Indices) -> None:
        """Prepare.

        Args:
            ground: The ground.
            point: (m,) places of the points in their table.
            joints: (m,) the joint that carries each.
        """
        m = len(point)
        self._point, self._ground, self._m = point, ground, m
        self._others = np.setdiff1d(np.arange(ground.count), point)
        self._where: Indices | slice = (
            point if len(self._others) else slice(None)
        )  # a slice costs less than a list of all
        mu, wrenches, support = map(np.ascontiguousarray, ground.select(point))
        self._room = np.hstack(
            (np.diag(mu * mu), -np.eye(m), -np.eye(m))
        )  # times squares of impulses: what is left inside of each cone
        self._yielding = spread_softness(joints, m)
        self._prepare_rows(wrenches, support)
        self._motions: Matrix = np.zeros((6, m))  # velocities at the end, then impulses
        self._ended, self._impulses = self._motions.reshape(2, -1)
        self._back = np.ascontiguousarray(ground.turn.T)
        self._told = b""  # the memory, where it says the same in the world
        self._kept: Matrix = np.zeros((m, 6))  # the same in the world, as remembered
        self.gap: Vector = np.zeros(m)
        self._middles: Matrix = np.zeros((m, 3))
        self.lowest = self._highest = np.inf
        self.missed = 0.0
        self._before, self._p, self._u = np.zeros(3 * m), np.zeros(3 * m), np.zeros(3 * m)

    def _prepare_rows(self, wrenches: Matrix, support: Matrix) -> None:
        """Make room for unit forces, their rows, and a last column beside these: what the velocity would be without contacts."""
        m, nv, k = self._m, support.shape[1], 3 * self._m
        self._of_middles, self._shift = self._ground.prepare(self._where)
        self._found: Matrix = np.zeros((10, m))  # moments of the forces, then distances
        self._moments: Matrix = self._found[:9].reshape(3, k)
        self._forces: Matrix = np.zeros((6, k + 1))
        self._forces[:3, :k] = wrenches[:, :, :3].reshape(k, 3).T
        self._turning: Matrix = self._forces[3:, :k]
        self._support: Matrix = np.zeros((nv, k + 1))
        self._support[:, :k] = np.tile(support, (3, 1)).T
        self._rows: Matrix = np.zeros((nv, k + 1))
        self.free, self._rows_T, self.normals = self._rows[:, k], self._rows.T, self._rows[:, :m]
        self._products: Matrix = np.zeros((k + 1, k + 1))
        self._G, self._coming = self._products[:k, :k], self._products[k, :k]
        self._diagonal: Vector = self._products.ravel()[:: k + 2][:k]
        self._parts = np.ones(k + 1)  # impulses, and one for what comes without them

    def knows(self, memory: Matrix) -> bool:
        """Return whether what touched in the last step is known along the rows: nobody wrote since these points did.

        Args:
            memory: Table of what touched in the last step.
        """
        return memory.tobytes() == self._told

    def recall(self, memory: Matrix) -> None:
        """Read velocities at the end of the last step and impulses in it.

        Args:
            memory: Table of what touched in the last step.
        """
        np.dot(self._ground.turn, memory[self._where, M_U:].T, self._motions)
        self._told = b""

    def measure(self, middles: Matrix, J: Matrix, dofs: Matrix, numbers: memoryview[float]) -> bool:
        """Find distances and rows; return whether these points are near the ground, and no others come there.

        Args:
            middles: (n, 3) middles of all points of the table [m].
            J: (6, nv) joint Jacobian of the world.
            dofs: Table of the coordinates, with the velocity to expect in the middle of the step.
            numbers: Numbers in and out, one by one.
        """
        if len(self._others):
            gap = self._ground.measure(middles)
            near = self._others[gap.take(self._others) < numbers[WITHIN]]
            if len(near) and self._ground.is_reached(
                (middles[near], gap[near]), near, J, dofs[V_MIDDLE], numbers
            ):
                return False
            middles = middles.take(self._point, 0)
        np.dot(self._of_middles, middles.T, self._found)
        self._found -= self._shift
        self._middles, gap = middles, self._found[-1]
        gaps = gap.tolist()  # of a few numbers the interpreter finds the least faster than numpy
        self.gap, self.lowest, self._highest = gap, min(gaps), max(gaps)
        if self._highest >= NEAR:
            return False
        self._turning[:] = self._moments
        np.dot(J.T, self._forces, self._rows)
        self._rows *= self._support
        return True

    def stick(self, terms: Terms, v: Vector, force: Vector, dt: Vector) -> bool:
        """Find the impulses that stop every row; return whether no point pulls or slides with them.

        Args:
            terms: Evaluated in the middle of the step.
            v: (nv,) velocity at the start.
            force: (nv,) generalized force of all but contacts, and that which gave the momentum at the start in as long a step.
            dt: Length of the step, and of the last one, as an array [s].
        """
        self._before = v.dot(self._rows)[:-1]
        wanted = self._before - self._ended
        wanted *= HALF
        if self._highest > 0.0:
            wanted[: self._m] += np.maximum(self.gap, ZERO) / dt
        np.multiply(force, dt, self.free)
        whitened = terms.whiten_rows(self._rows_T)
        np.dot(whitened, whitened.T, self._products)
        soft = self._yielding.dot(self._diagonal)
        self._diagonal += soft
        carried = soft * self._impulses
        pull = carried - wanted
        pull -= self._coming
        _, p, info = lapack.dposv(self._G.T, pull)
        if info != 0 or not self._is_inside(p):
            return False
        self._parts[:-1] = p
        soft *= p
        ended = self._products.dot(self._parts)[:-1]
        ended -= soft
        soft -= carried  # by how much what stands would yield
        left = soft.tolist()
        self.missed = max(max(left), -min(left))
        if self.missed > HARD:
            return False
        self._ended[:], self._impulses[:], self._p, self._u, self._told = (
            ended,
            p,
            p,
            ended + wanted,
            b"",
        )
        return True

    def write_end(self, z_end: Vector) -> None:
        """Write the whitened velocity at the end of the step.

        Args:
            z_end: (nv,) written.
        """
        np.dot(self._rows, self._parts, z_end)

    def measure_work(self) -> float:
        """Return the work of the impulses [J]."""
        return 0.5 * float(self._p.dot(self._before + self._ended))

    def sum_impulses(self) -> list[float]:
        """Return the impulse and its moment about the origin of the world, six numbers."""
        return self._forces.dot(self._parts).tolist()  # type: ignore[no-any-return]

    def remember(self, memory: Matrix, numbers: memoryview[float]) -> None:
        """Keep what was found; all of these points carry, as they did before.

        Args:
            memory: Table of what touched in the last step; written.
            numbers: Numbers in and out, one by one; the certificate is written.
        """
        self._kept = memory[self._where, M_U:] = self._back.dot(self._motions).T
        self._told = memory.tobytes() if self._ground.is_square else b""
        numbers[RESIDUAL], numbers[CONE] = self.missed, 0.0
        numbers[COMPLEMENTARITY], numbers[STOPS] = self._complementarity(), 0.0
        numbers[DEPTH], numbers[LOWEST] = max(0.0, -self.lowest), self.lowest

    def read(self) -> Touching:
        """Return what was remembered last."""
        answer = ConeAnswer(self._p, self._u, self.missed, self._complementarity(), 0.0, 1, True)
        place = self._ground.find_places(self._middles, self._where)
        return Touching(
            self._point,
            place,
            self._kept[:, 3:],
            max(0.0, -self.lowest),
            answer,
            np.zeros_like(self._point),
        )

    def _complementarity(self) -> float:
        """Return the largest product of a normal impulse and the velocity along it [J]."""
        power = (self._p * self._u).tolist()[: self._m]
        return float(max(max(power), -min(power)))

    def _is_inside(self, p: Vector) -> bool:
        """Return whether every point carries, and none more aslant than friction holds."""
        return bool(
            min(p.tolist()[: self._m]) > CARRIES and min(self._room.dot(p * p).tolist()) >= 0.0
        )


class Footing:
    """Sets of points that stood on level ground, each prepared once."""

    def __init__(self, ground: LevelGround, joints: Indices) -> None:
        """Prepare.

        Args:
            ground: The ground.
            joints: (n,) the joint that carries each point of the table.
        """
        self._ground, self._joints = ground, joints
        self._sets: dict[bytes, StandingPoints] = {}

    def find(self, touches: Vector) -> StandingPoints:
        """Return the set of points that carried in the last step.

        Args:
            touches: (n,) one where a point did.
        """
        key = touches.tobytes()
        found = self._sets.get(key)
        if found is None:
            point = np.flatnonzero(touches)
            if len(self._sets) == MOST_SETS:
                self._sets.clear()
            found = self._sets[key] = StandingPoints(self._ground, point, self._joints[point])
        return found
