"""Rows that a push has to keep, as loops: those of contacts, six numbers each, and those of torques, columns of J, two for each."""

from __future__ import annotations

from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def worst_row(J: Matrix, free: Vector, x: Vector, M: Memory, torques: int) -> tuple[int, float]:
    """Return the row that is broken most, and by how much.  Rows of torques come last, two for each: too high, too low."""
    worst, place = press(x, M), -1
    for i in range(M.sizes.rows):
        if M.y[i] == worst:
            place = i
            break
    for t in range(torques):
        at = M.torques[t]
        torque = free[at]
        for i in range(len(x)):
            torque -= J[i, at] * x[i]
        if abs(torque) - M.effort[t] > worst:
            worst, place = abs(torque) - M.effort[t], M.sizes.rows + 2 * t + (1 if torque < 0.0 else 0)
    return place, worst


def press(x: Vector, M: Memory) -> float:
    """Write the rows of all contacts less their bounds into ``y`` and return the largest."""
    y, b = M.y, M.b
    a_0, a_1, a_2, a_3, a_4, a_5 = M.rows[0], M.rows[1], M.rows[2], M.rows[3], M.rows[4], M.rows[5]
    for c in range(M.sizes.contacts):
        first, size = M.firsts[c], M.firsts[c + 1] - M.firsts[c]
        x_0, x_1, x_2 = x[first], x[first + 1], x[first + 2]
        x_3, x_4, x_5 = x[first + 3] if size > 3 else 0.0, x[first + 4] if size > 4 else 0.0, x[first + 5] if size > 5 else 0.0
        for i in range(M.ends[c], M.ends[c + 1]):
            y[i] = a_0[i] * x_0 + a_1[i] * x_1 + a_2[i] * x_2 + a_3[i] * x_3 + a_4[i] * x_4 + a_5[i] * x_5 - b[i]
    worst = -1e300
    for i in range(len(y)):
        if y[i] > worst:
            worst = y[i]
    return worst


def write_normal(J: Matrix, M: Memory, row: int, k: int, normal: Vector) -> None:
    """Write how fast a row grows along each direction."""
    if row >= M.sizes.rows:
        at, sign = M.torques[(row - M.sizes.rows) // 2], 2.0 * ((row - M.sizes.rows) % 2) - 1.0
        for j in range(k):
            normal[j] = 0.0
            for i in range(len(J)):
                normal[j] += sign * J[i, at] * M.T[j, i]
        return
    c = 0
    while row >= M.ends[c + 1]:
        c += 1
    for j in range(k):
        normal[j] = 0.0
        for i in range(M.firsts[c], M.firsts[c + 1]):
            normal[j] += M.rows[i - M.firsts[c], row] * M.T[j, i]
