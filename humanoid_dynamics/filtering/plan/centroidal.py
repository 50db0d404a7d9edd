# SPDX-License-Identifier: Apache-2.0
"""Centroidal plan: path of the centre of mass, CMP, centre of pressure and footsteps from one quadratic program."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from humanoid_dynamics.filtering.plan.centroidal_kernels import (
    Horizon,
    fill_cost,
    fill_rows,
    follow_path,
    predict,
)
from humanoid_dynamics.filtering.plan.geometry import WalkGeometry
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Matrix
from humanoid_dynamics.spatial.compiling import compile_kernel

MOST_ROWS_OF_BLOCK = 6


@dataclass(slots=True, eq=False)
class CentroidalPath:
    """Solution of one centroidal plan.

    Attributes:
        blocks: (N, 6) blocks of its horizon.
        start: (2, 2) centre of mass and its velocity at the start.
        cmp: (N, 2) CMP of each block [m].
        cop: (N, 2) centre of pressure [m].
        footsteps: (K, 2) middles of the next soles [m].
        slack: Slack of the terminal constraint [m]; zero where it holds.
        cost: Cost, comparable between candidates.
    """

    blocks: Matrix
    start: Matrix
    cmp: Matrix
    cop: Matrix
    footsteps: Matrix
    slack: float
    cost: float

    @property
    def duration(self) -> float:
        """Length of the horizon [s]."""
        return float(self.blocks[:, 0].sum())

    def copy(self) -> CentroidalPath:
        """Return a copy of its own."""
        return replace(
            self,
            blocks=self.blocks.copy(),
            start=self.start.copy(),
            cmp=self.cmp.copy(),
            cop=self.cop.copy(),
            footsteps=self.footsteps.copy(),
        )


class CentroidalPlan:
    """Solver of centroidal plans; programs of one size share their memory."""

    def __init__(self, geometry: WalkGeometry, settings: PlanSettings) -> None:
        self._geometry, s = geometry, settings
        self._weights = np.array(
            [
                s.weight_cop,
                s.weight_pivot,
                s.weight_momentum,
                s.weight_velocity,
                s.weight_smooth,
                s.weight_step,
                s.weight_slack,
                s.weight_slack_square,
            ]
        )
        self._limits = (
            s.pivot_offset * float(geometry.half[0, 0] * 2.0),
            s.friction_share * geometry.friction / np.sqrt(2.0),
            geometry.height,
        )
        self._predict = compile_kernel(predict)
        self._cost = compile_kernel(fill_cost)
        self._rows = compile_kernel(fill_rows)
        self._follow = compile_kernel(follow_path)
        self._memory: dict[
            tuple[int, int, int], tuple[QpWorkspace, tuple[Matrix, Matrix, Matrix]]
        ] = {}
        self._at = np.zeros((3, 2))

    def solve(self, horizon: Horizon, *, relaxed: bool = False) -> CentroidalPath | None:
        """Return the best path, or None where no CMP and footsteps satisfy the rows.

        Args:
            horizon: What is planned for.
            relaxed: Whether friction and angular momentum are not limited.
        """
        limits = (np.inf, np.inf, 1.0) if relaxed else self._limits
        N, K = len(horizon.blocks), len(horizon.steps)
        n1 = 2 * N + K + 2
        m = self._count_rows(horizon)
        qp, moves = self._find_memory(N, K, m)
        self._predict(horizon.blocks, *moves)
        constant = self._cost(horizon, self._weights, self._geometry.rate, moves, (qp.H, qp.f))
        self._rows(horizon, limits, moves, (qp.A, qp.lower, qp.upper))
        found = qp.solve()
        if found.status is not QpStatus.OPTIMAL:
            return None
        x = found.x.reshape(2, n1)
        cmp = np.ascontiguousarray(x[:, :N].T)
        slack = float(np.hypot(*(x[:, -2] - x[:, -1])))
        cost = float(0.5 * found.x @ qp.H @ found.x + qp.f @ found.x + constant)
        return CentroidalPath(
            horizon.blocks,
            np.array(horizon.start[:2]),
            cmp,
            cmp + x[:, N : 2 * N].T + horizon.blocks[:, 4:6],
            np.ascontiguousarray(x[:, 2 * N : 2 * N + K].T),
            slack,
            cost,
        )

    def follow(self, path: CentroidalPath, time: float) -> tuple[Matrix, int]:
        """Return place, velocity and acceleration (3, 2) at a time of a path, and its block."""
        block = self._follow(path.blocks, path.cmp, path.start, time, self._at)
        return self._at, block

    def keep_bounded(self, start: Matrix, hull: Matrix, duration: float) -> CentroidalPath:
        """Return a path of one block whose CMP is as far beyond the divergent component as what stands allows.

        Args:
            start: (3, 2) centre of mass, its velocity, and the CMP that is used now.
            hull: (r, 3) half planes of what stands.
            duration: Length of the path [s].
        """
        w = self._geometry.rate
        A, b = hull[:, :2], hull[:, 2]
        cmp = start[0] + start[1] / w
        for _ in range(len(hull)):  # projections onto the half planes, one after the other
            for row, bound in zip(A, b, strict=True):
                cmp = cmp - max(float(row @ cmp - bound), 0.0) * row
        blocks = np.array([[duration, w * w, 1.0, 0.0, 0.0, 0.0]])
        none = np.zeros((0, 2))
        return CentroidalPath(
            blocks, np.array(start[:2]), cmp[None], cmp[None].copy(), none, np.inf, np.inf
        )

    def _count_rows(self, horizon: Horizon) -> int:
        hull = int(np.count_nonzero(horizon.kinds[:, 0] == 0))
        others = len(horizon.kinds) - hull
        return (
            2
            + hull * len(horizon.hull)
            + 2 * others
            + 4 * len(horizon.kinds)
            + 2 * len(horizon.steps)
            + 4
        )

    def _find_memory(
        self, N: int, K: int, m: int
    ) -> tuple[QpWorkspace, tuple[Matrix, Matrix, Matrix]]:
        key = N, K, m
        if key not in self._memory:
            moves = np.zeros((N + 1, N)), np.zeros((N + 1, N)), np.zeros((N + 1, 4))
            self._memory[key] = QpWorkspace(2 * (2 * N + K + 2), 2, m), moves
        return self._memory[key]
