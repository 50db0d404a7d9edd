"""The tick's program filled by compiled kernels."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering import program_kernels
from humanoid_dynamics.filtering.joint_room import JointRoom
from humanoid_dynamics.filtering.program import NEAR, ReducedProgram, Weights
from humanoid_dynamics.filtering.program_kernels import fill_program, read_program
from humanoid_dynamics.filtering.terms import BASE, BodyTerms
from humanoid_dynamics.filtering.wishes import Wishes
from humanoid_dynamics.resolution import small
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel, functions_of

PARTS = (*functions_of(small), *(part for part in functions_of(program_kernels) if part not in {fill_program, read_program}))
BOTH = 12


class CompiledProgram(ReducedProgram):
    """The program for one or two standing soles; answers as ``ReducedProgram`` does, to rounding."""

    def __init__(self, feet: tuple[int, ...], cones: tuple[Matrix, Matrix], effort: Vector, weights: Weights, weight: float) -> None:
        """Take the memory; see ``ReducedProgram``."""
        super().__init__(feet, cones, effort, weights, weight)
        na, n, second = self._na, self._n, feet[1] if len(feet) > 1 else -1
        under = [rows.start for rows in self._under]
        plan = (feet[0], second, self._above.start, self._load, under[0], under[-1], self._torques.start, self._room.start)
        w = weights
        numbers = (w.com, w.height, w.base, w.swing, w.landing, w.swing_turn, w.joints, w.force, NEAR)
        self._given = (
            np.array(plan, dtype=np.intp),
            self._limited,
            self._effort,
            np.array(cones[feet[0]]),
            self._units,
            np.array(numbers),
            self._W,
        )
        motion = (np.zeros((BASE, na)), np.zeros(BASE), np.zeros((BASE, na)), np.zeros(BASE))
        wrench = (np.zeros((BASE, n)), np.zeros(BASE), self._tau, np.zeros(na))
        self._kept = (*motion, *wrench, self._G, np.zeros((2 + 2 * BASE, 3 * BASE)))
        self._written = (self.qp.H, self.qp.f, self.qp.A, self.qp.lower, self.qp.upper)
        self._kernels = compile_kernel(fill_program, PARTS), compile_kernel(read_program, PARTS)

    def _fill(self, terms: BodyTerms, wishes: Wishes, room: JointRoom) -> None:
        state = (terms.M, terms.h, terms.J, terms.drift, terms.to_base, terms.J_com, terms.com_drift)
        wish = (wishes.com, wishes.base, wishes.joints, wishes.soles, wishes.up, wishes.rise, wishes.height, wishes.load)
        self._kernels[0](state, wish, room.bounds, self._given, self._kept, self._written)

    def _read(self, x: Vector) -> tuple[Vector, Matrix, Vector]:
        nv = BASE + self._na
        out = np.empty(nv + BOTH + self._na)
        self._kernels[1](x, self._given, self._kept, out)
        return out[:nv], out[nv : nv + BOTH].reshape(2, BASE), out[nv + BOTH :]


def choose_program(plain: type[ReducedProgram], feet: tuple[int, ...], *, compiled: bool) -> type[ReducedProgram]:
    """Return the kind of program for a set of standing soles.

    Args:
        plain: Kind that is filled in arrays.
        feet: Soles that stand; kernels need one.
        compiled: Whether kernels of numba are to fill it, where there are any for this kind.
    """
    return CompiledProgram if compiled and feet and plain is ReducedProgram else plain
