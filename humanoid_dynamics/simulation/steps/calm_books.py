"""Books of a calm step, which is one part: the account is read and written once, as plain numbers, which Python adds up fastest."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from struct import Struct

from humanoid_dynamics.simulation.steps.rows import ACCOUNT, FLYING
from humanoid_dynamics.spatial.arrays import Vector

ENERGIES, MOTIONS = Struct(f"{FLYING}d"), Struct(f"{ACCOUNT - FLYING}d")  # the two parts of the account
WHERE = FLYING * 8  # bytes before the second
NOTHING = (0.0,) * 12  # impulses entered, and what nobody gave, since the last report


def close_energy(account: Vector, works: Sequence[float], energy: float) -> float:
    """Enter the work and the energy after a step, as ``enter_step`` and ``close_step`` do; return what is missing [J].

    Args:
        account: Account of energy and momentum.
        works: Work of motors, pushes, drives, losses, contacts and loops [J].
        energy: The energy [J].
    """
    m, p, d, f, c, o = works
    motors, pushes, drive, losses, contacts, loops, impacts, corrections, total, before, start, _, largest = ENERGIES.unpack_from(
        account.data
    )
    total += m + p + d + f + c + o
    missing = energy - start - total
    sums = (motors + m, pushes + p, drive + d, losses + f, contacts + c, loops + o, impacts, corrections, total)
    ENERGIES.pack_into(account.data, 0, *sums, missing, start, energy, max(largest, missing - before))
    return float(missing)


def close_momentum(account: Vector, motion: Sequence[float], impulse: Sequence[float], dt: float) -> tuple[float, float]:
    """Enter the momentum after a step, as ``close_motion`` and ``report_motion`` do; return the sizes of what nobody gave.

    Args:
        account: Account of energy and momentum.
        motion: (9,) momentum of what flies, linear and angular about the origin of the world, and mass times centre of mass.
        impulse: (6,) impulse of contacts, and its moment about the origin of the world.
        dt: Length of the step [s].

    Returns:
        Linear momentum [N·s], and that about the centre of mass [N·m·s].
    """
    mass, g_x, g_y, g_z, a, b, c, x, y, z, m_x, m_y, m_z, *given = MOTIONS.unpack_from(account.data, WHERE)
    half, (h_x, h_y, h_z, k_x, k_y, k_z, s_x, s_y, s_z), (i_x, i_y, i_z, j_x, j_y, j_z) = 0.5 * dt, motion, impulse
    r_x, r_y, r_z = s_x / mass, s_y / mass, s_z / mass
    # what gravity gives, and its moment at the centre in the middle of the step, where contacts act
    w_x, w_y, w_z = dt * g_x, dt * g_y, dt * g_z
    m_x, m_y, m_z = m_x + half * a, m_y + half * b, m_z + half * c
    # all that became new, and less what was given
    a, b, c, x, y, z = h_x - a, h_y - b, h_z - c, k_x - x, k_y - y, k_z - z
    p_x, p_y, p_z, n_x, n_y, n_z, _, _, _, _, _, _, *sums = given
    d, e, f = a - i_x - p_x - mass * w_x, b - i_y - p_y - mass * w_y, c - i_z - p_z - mass * w_z
    u = x - j_x - n_x - (m_y * w_z - m_z * w_y) - (r_y * f - r_z * e)
    v = y - j_y - n_y - (m_z * w_x - m_x * w_z) - (r_z * d - r_x * f)
    w = z - j_z - n_z - (m_x * w_y - m_y * w_x) - (r_x * e - r_y * d)
    x, y, z = x - (r_y * c - r_z * b), y - (r_z * a - r_x * c), z - (r_x * b - r_y * a)
    l_x, l_y, l_z, o_x, o_y, o_z, way, turn = sums
    leaked = (l_x + d, l_y + e, l_z + f, o_x + u, o_y + v, o_z + w)
    turned = (way + sqrt(a * a + b * b + c * c), turn + sqrt(x * x + y * y + z * z))
    MOTIONS.pack_into(account.data, WHERE, mass, g_x, g_y, g_z, *motion, *NOTHING, *leaked, *turned)
    return sqrt(d * d + e * e + f * f), sqrt(u * u + v * v + w * w)
