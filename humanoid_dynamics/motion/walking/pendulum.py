# SPDX-License-Identifier: Apache-2.0
"""The linear inverted pendulum under a given zero-moment point: its one solution that does not run away, in closed form.

c'' = w^2 (c - p).  The unstable part xi = c + c'/w is the weighted future of p, xi(t) = w int_0^inf exp(-w s) p(t + s) ds; the stable part
follows it, c' = w (xi - c).  Between two samples p is taken as straight, and each step is solved exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class PendulumPath:
    """A path of the centre of mass.

    Attributes:
        c: (n, k) place [m].
        rate: (n, k) velocity [m/s].
        acceleration: (n, k) acceleration [m/s^2].
        p: (n, k) the zero-moment point it belongs to [m].
    """

    c: Matrix
    rate: Matrix
    acceleration: Matrix
    p: Matrix


def solve_bounded(p: Matrix, dt: float, w: float) -> PendulumPath:
    """Return the bounded path under a zero-moment point that stands still before its start and after its end.

    At the start the centre of mass is over the zero-moment point; its velocity there is what the future needs, and small where the first
    change is far away.

    Args:
        p: (n, k) zero-moment point, a column per direction [m].
        dt: Step [s].
        w: Rate of the pendulum, sqrt(g / height) [1/s].

    Returns:
        The path.
    """
    xi = unstable_part(p, dt, w)
    c = follow(xi, p, dt, w)
    return PendulumPath(c, w * (xi - c), w * w * (c - p), np.array(p))


def solve_at_rest(p: Matrix, dt: float, w: float, bumps: Matrix) -> PendulumPath:
    """Return the bounded path that starts and ends at rest, by adding two bumps to the zero-moment point.

    Their sizes follow from two linear equations: xi is p at the start, and c is p at the end.  The first bump is the small push to the
    other side before the first step.

    Args:
        p: (n, k) zero-moment point [m].
        dt: Step [s].
        w: Rate of the pendulum [1/s].
        bumps: (n, 2) shapes of the two bumps: one near the start, one near the end, zero at both ends.

    Returns:
        The path; its ``p`` holds the bumps.
    """
    columns = []
    answers = [_ends(bumps[:, i : i + 1], dt, w) for i in (0, 1)]
    A = np.array([[answers[j][i][0] for j in (0, 1)] for i in (0, 1)])
    starts, ends = _ends(p, dt, w)
    for k in range(p.shape[1]):
        sizes = np.linalg.solve(A, np.array([-starts[k], -ends[k]]))
        columns.append(p[:, k] + bumps @ sizes)
    return solve_bounded(np.column_stack(columns), dt, w)


def unstable_part(p: Matrix, dt: float, w: float) -> Matrix:
    """Return xi = c + c'/w: the future of p, weighted by exp(-w s).

    Args:
        p: (n, k) zero-moment point [m]; it stands still after its end.
        dt: Step [s].
        w: Rate of the pendulum [1/s].

    Returns:
        (n, k) xi [m].
    """
    decay = float(np.exp(-w * dt))
    slope = (p[1:] - p[:-1]) / dt
    now = p[:-1] * (1.0 - decay) + slope * ((1.0 - decay) / w - dt * decay)
    xi = np.empty_like(p)
    xi[-1] = p[-1]
    for row in range(len(p) - 2, -1, -1):
        xi[row] = decay * xi[row + 1] + now[row]
    return xi


def follow(xi: Matrix, p: Matrix, dt: float, w: float) -> Matrix:
    """Return c with c' = w (xi - c), from c = p at the start.

    Args:
        xi: (n, k) unstable part [m].
        p: (n, k) zero-moment point [m].
        dt: Step [s].
        w: Rate of the pendulum [1/s].

    Returns:
        (n, k) c [m].
    """
    decay = float(np.exp(-w * dt))
    slope = (p[1:] - p[:-1]) / dt
    particular = p[:-1] + slope / w  # of xi; what is left grows as exp(w s)
    growing = xi[:-1] - particular
    now = (
        particular * (1.0 - decay)
        + slope * (dt - (1.0 - decay) / w)
        + growing * 0.5 * (1.0 / decay - decay)
    )
    c = np.empty_like(p)
    c[0] = p[0]
    for row in range(len(p) - 1):
        c[row + 1] = decay * c[row] + now[row]
    return c


def _ends(p: Matrix, dt: float, w: float) -> tuple[Vector, Vector]:
    """Return by how much xi misses p at the start and c misses p at the end."""
    xi = unstable_part(p, dt, w)
    return xi[0] - p[0], follow(xi, p, dt, w)[-1] - p[-1]
