# SPDX-License-Identifier: Apache-2.0
"""Whether surfaces that push rest: a contact force of a surface that slides, lifts, sinks or hangs in the air certifies nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_dynamics.contact.ground import Ground
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

SPEED = 0.01  # m/s; a surface that is slower along what it holds rests
ACCELERATION = 0.1  # m/s²; likewise
LEVER = 0.1  # m; turns these bounds into those of rotations, 0.1 rad/s and 1 rad/s²
GAP = 5e-3  # m; a corner that is farther from the ground is above or below it
IDLE = 1e-6  # of the weight; a contact with less does not push
PARTS = (3, 3, 9, 3)  # numbers of a view: linear and angular acceleration, rotation, place
LINEAR = 3  # directions of a basis that are forces
MOVES = ("slides at", "lifts off at", "is driven into the ground at", "turns at")
ACCELERATES = (
    "begins to slide at",
    "begins to lift off at",
    "is driven into the ground at",
    "begins to turn at",
)


AT_REST, IDLE_MOVES, MOVES_LOADED = range(3)  # what surfaces do


def measure_rows(
    J: Matrix,
    v: Vector,
    rows: Matrix,
    values: Vector,
    scales: Vector,
    places: Indices,
    f: Vector,
    found: Vector,
) -> int:
    """Write how surfaces move, each number by its bound, and return whether one moves that carries force.

    Args:
        J: (size, nv) Jacobian of what surfaces hold.
        v: (nv,) velocity.
        rows: (total, numbers) accelerations along what surfaces hold and heights of corners, per number that Pinocchio computes.
        values: (numbers,) these.
        scales: One over the bounds of speeds (size,), what is taken from each row (total,), which rows count (total,), and the square of
            a force that does not count.
        places: (4 contacts,) first and last speed and corner of each surface.
        f: Forces of the surfaces come first.
        found: (size + total,) speeds, then accelerations and heights; written.
    """
    size, total, square = len(J), len(rows), 0.0
    for i in range(size):
        speed = 0.0
        for k in range(len(v)):
            speed += J[i, k] * v[k]
        found[i] = speed * scales[i]
    for i in range(total):
        value = -scales[size + i]
        for k in range(len(values)):
            value += rows[i, k] * values[k]
        found[size + i] = value * scales[size + total + i]
    for i in range(size + total):
        square += found[i] * found[i]
    if square <= 1.0:
        return AT_REST
    for c in range(0, len(places), 4):
        force, moves = 0.0, False
        for i in range(places[c], places[c + 1]):
            force += f[i] * f[i]
            moves = moves or not (abs(found[i]) <= 1.0 and abs(found[size + i]) <= 1.0)
        for i in range(places[c + 2], places[c + 3]):
            moves = moves or not abs(found[size + i]) <= 1.0
        if moves and force > scales[len(scales) - 1]:
            return MOVES_LOADED
    return IDLE_MOVES


class Measured(NamedTuple):
    """How surfaces move, each number by its bound.

    Attributes:
        motion: Which measured it.
        speeds: (size,) along what surfaces hold.
        others: Accelerations likewise, then heights of corners above their ground.
    """

    motion: ContactMotion
    speeds: Vector
    others: Vector


class ContactMotion:
    """Motion of the surfaces along the directions in which they hold: make once, ``measure`` after each update of the dynamics.

    What pinocchio's recursive Newton-Euler algorithm and its Jacobians leave in ``data`` is read in place: accelerations of the links that
    bear surfaces, their rotations R and places p.  The acceleration along held directions and the height of corners are linear in these.
    """

    def __init__(
        self,
        model: pin.Model,
        data: pin.Data,
        surfaces: Sequence[ContactSurface],
        bases: Sequence[Matrix],
        grounds: Mapping[str, Ground],
        idle: float,
    ) -> None:
        """Prepare.

        Args:
            model: Model of the robot.
            data: Where each update writes.
            surfaces: The surfaces.
            bases: (6, r) what each holds, see ``wrench_basis``.
            grounds: Ground of those surfaces that have one, by name.
            idle: Force that does not count [N].
        """
        self._surfaces = surfaces
        self._views: list[Vector] = [np.zeros(0)]
        sizes, wide = [basis.shape[1] for basis in bases], sum(PARTS)
        size = sum(sizes)
        rows, heights, offsets, at = np.zeros((size, wide * len(surfaces))), [], [], 0
        owner: list[int] = []
        for k, (surface, basis) in enumerate(zip(surfaces, bases, strict=True)):
            frame = model.frames[surface.frame]
            a_gf, oMi, X_JC = (
                data.a_gf[frame.parentJoint],
                data.oMi[frame.parentJoint],
                frame.placement,
            )
            self._views += [a_gf.linear, a_gf.angular, oMi.rotation.T.reshape(9), oMi.translation]
            falling = np.vstack(
                (X_JC.rotation.T @ np.kron(np.eye(3), model.gravity.linear), np.zeros((3, 9)))
            )  # of R: what a_gf leaves out
            part = slice(wide * k, wide * (k + 1))
            rows[at : at + basis.shape[1], part] = basis.T @ np.hstack(
                (X_JC.toActionMatrixInverse(), falling, np.zeros((6, 3)))
            )
            at += basis.shape[1]
            if surface.name in grounds:
                ground = grounds[surface.name]
                for corner in surface.vertices:
                    row = np.zeros(wide * len(surfaces))
                    row[part] = np.concatenate(
                        (np.zeros(6), np.kron(X_JC.act(corner), ground.normal), ground.normal)
                    )
                    heights.append(row)
                    offsets.append(ground.offset)
                    owner.append(k)
        per = np.concatenate(
            [np.zeros(0), *(np.where(np.arange(r) < LINEAR, 1.0, LEVER) for r in sizes)]
        )
        self._per_speed, self._per_acceleration = per / SPEED, per / ACCELERATION
        self._rows = np.vstack(
            (
                rows * self._per_acceleration[:, None],
                np.reshape(heights, (len(heights), rows.shape[1])) / GAP,
            )
        )
        total = len(self._rows)
        self._scales: Vector = np.concatenate(
            (
                self._per_speed,
                *(np.zeros(size), np.array(offsets, dtype=np.float64) / GAP),
                np.ones(total),
                [idle * idle],
            )
        )
        self._counts = self._scales[size + total : size + 2 * total]
        ends = [0, *accumulate(sizes)]
        self._rows_of = [
            (a, b, *_span_of(owner, k, size)) for k, (a, b) in enumerate(pairwise(ends))
        ]
        self._places = np.array(self._rows_of, dtype=np.intp).reshape(-1)
        self._values = np.zeros(self._rows.shape[1])
        self._masked, self._measure = False, compile_kernel(measure_rows)
        J, v, f = np.zeros((size, model.nv)), np.zeros(model.nv), np.zeros(size)
        self.measure(J, v, f, None)

    def measure(
        self, J: Matrix, v: Vector, f: Vector, active: Sequence[bool] | None
    ) -> tuple[Measured | None, bool]:
        """Return how all surfaces move, None where all rest, and whether one moves that carries force.

        Args:
            J: (size, nv) Jacobian of what surfaces hold.
            v: (nv,) velocity.
            f: Forces of the surfaces come first.
            active: Whether each surface touches; all where None.
        """
        if active is not None or self._masked:
            self._mask(active)
        found: Vector = np.empty(len(J) + len(self._rows))
        np.concatenate(self._views, out=self._values)
        does = self._measure(J, v, self._rows, self._values, self._scales, self._places, f, found)
        if does == AT_REST:
            return None, False
        return Measured(self, found[: len(J)], found[len(J) :]), does == MOVES_LOADED

    def _mask(self, active: Sequence[bool] | None) -> None:
        """Let rows of surfaces that do not touch not count."""
        self._counts[:], self._masked = 1.0, active is not None
        for touches, (first, end, corner, last) in zip(active or (), self._rows_of, strict=False):
            if not touches:
                self._counts[first:end] = self._counts[corner:last] = 0.0

    def accelerations(self) -> Vector:
        """Return the acceleration of all surfaces along what they hold, (size,) [m/s², rad/s²]: J a less gamma."""
        size = len(self._per_acceleration)
        found: Vector = self._rows[:size].dot(np.concatenate(self._views))
        return found / self._per_acceleration

    def bound(self, speeds: Vector, accelerations: Vector, heights: Vector) -> Measured:
        """Return what was measured otherwise, each number by its bound.

        Args:
            speeds: (size,) along what surfaces hold [m/s, rad/s].
            accelerations: (size,) likewise [m/s², rad/s²].
            heights: Heights of the corners of all surfaces that have a ground [m].
        """
        others = np.concatenate((accelerations * self._per_acceleration, heights / GAP))
        return Measured(self, speeds * self._per_speed, others)

    def is_moving(self, measured: Measured, contact: int) -> bool:
        """Whether a surface does not rest.

        Args:
            measured: What ``measure`` returned.
            contact: Index of the surface.
        """
        first, end, corner, last = self._rows_of[contact]
        speeds, others = measured.speeds[first:end].tolist(), measured.others.tolist()
        return not all(
            -1.0 <= part <= 1.0 for part in (*speeds, *others[first:end], *others[corner:last])
        )

    def describe(self, measured: Measured, contact: int) -> list[str]:
        """Return in words what a surface does that does not rest.

        Args:
            measured: What ``measure`` returned.
            contact: Index of the surface.
        """
        name, (first, end, corner, last), found = (
            self._surfaces[contact].name,
            self._rows_of[contact],
            [],
        )
        for parts, bound, unit, moves in (
            (measured.speeds, SPEED, "/s", MOVES),
            (measured.others, ACCELERATION, "/s²", ACCELERATES),
        ):
            along, normal, turning = (
                parts[first : first + 2],
                float(parts[first + 2]),
                np.abs(parts[first + LINEAR : end]),
            )
            if not np.max(np.abs(along)) <= 1.0:
                found.append(
                    f"{name}: pushes, but {moves[0]} {bound * float(np.linalg.norm(along)):.3g} m{unit}"
                )
            if not abs(normal) <= 1.0:
                found.append(
                    f"{name}: pushes, but {moves[1 if normal > 0.0 else 2]} {bound * abs(normal):.3g} m{unit}"
                )
            if not np.max(turning, initial=0.0) <= 1.0:
                found.append(
                    f"{name}: pushes, but {moves[3]} {bound / LEVER * float(np.max(turning)):.3g} rad{unit}"
                )
        heights = measured.others[corner:last] * GAP
        worst = float(heights[np.argmax(np.abs(heights))]) if len(heights) else 0.0
        if abs(worst) > GAP:
            found.append(
                f"{name}: pushes, but is {abs(worst):.3g} m {'above' if worst > 0.0 else 'below'} its ground"
            )
        return found


def _span_of(owner: list[int], contact: int, start: int) -> tuple[int, int]:
    """Return where the corners of a surface begin and end among all that is measured besides speeds."""
    first = start + sum(k < contact for k in owner)
    return first, first + owner.count(contact)
