"""Sweeps of projected Gauss-Seidel over contacts; written so that numba can compile it, and plain Python without."""

from __future__ import annotations

from humanoid_dynamics.spatial.arrays import Matrix, Vector


def sweep(G: Matrix, b: Vector, mu: Vector, p: Vector, sweeps: int) -> None:
    """Improve impulses in place.

    Args:
        G: (k, k) velocity per impulse.
        b: (k,) velocity without impulses.
        mu: (m,) Coulomb coefficients.
        p: (k,) impulses, overwritten.
        sweeps: How often every contact is visited.
    """
    m = len(mu)
    count = len(p) - 2 * m
    for _ in range(sweeps):
        for i in range(count):
            u = b[i]
            for j in range(len(p)):
                u += G[i, j] * p[j]
            p[i] = max(0.0, p[i] - u / G[i, i])
            if i >= m:
                continue
            first, second = count + i, count + m + i
            u_1, u_2 = b[first], b[second]
            for j in range(len(p)):
                u_1 += G[first, j] * p[j]
                u_2 += G[second, j] * p[j]
            step = 1.0 / (G[first, first] + G[second, second])
            t_1, t_2 = p[first] - step * u_1, p[second] - step * u_2
            length, radius = (t_1 * t_1 + t_2 * t_2) ** 0.5, mu[i] * p[i]
            if length > radius:
                t_1, t_2 = t_1 * radius / length, t_2 * radius / length
            p[first], p[second] = t_1, t_2
