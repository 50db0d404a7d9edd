"""Shares that let two contacts press inside themselves: the recommended transition of load, tick by tick [BP, eq. 28-29, assumption 2].

With 1 - s on one contact and s on the other, pressures at p_1 and p_2 add up to the zero-moment point z = (1 - s) p_1 + s p_2.  So s is
kept where p_1 and p_2 can lie within their contacts.  While a step rolls over, which is while one of them is a face and the other an edge,
or in the plane an edge and a point, s rises in two parts, and passes at half time the one share for which both press where they face each
other: there contacts may change from heel to sole and from sole to toe, and no torque has a step.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.contact.transfer import find_profile, switch_share
from humanoid_dynamics.resolution.objectives import ShareObjective
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only

FLOATING = ("free_flyer", "planar")
EASED = 0.05  # share from which on it counts fully where pressure may be; below, less and less: contacts come and go without a step
INSIDE = 0.97  # of a face that stands flat, as seen from its middle; two soles that are turned a little press a little beside the line
UPRIGHT = 0.9  # cosine between a normal and the vertical from which on a contact is ground
SAME = 1e-9  # m; what is nearer is one place
RISE = find_profile("quintic")
STEEPEST = 2.0 * 1.875 + 1.0 / EASED  # most that the share taken changes by, per change of the share asked for: see ``press_share``
ALONG, ACROSS = read_only(np.eye(2))


class PressedShareObjective(ShareObjective):
    """``ShareObjective`` with the shares of two contacts on the ground moved to where both can press; others are as they were asked for.

    Heights may differ: places are counted along the total force, which bears on the same line wherever it is met.
    """

    @np.errstate(all="ignore")  # what is not finite leaves shares as they are
    def adapt(self, shares: Vector) -> Vector:
        """Return the shares that are taken.

        Args:
            shares: (contacts,) part of the load that each contact is to take, of sum 1.
        """
        loaded = np.flatnonzero(shares)
        ground = self._find_ground(loaded) if len(loaded) == 2 else None
        if ground is None:
            return shares
        asked, moved = float(shares[loaded[1]]), np.array(shares)
        rolls = len({self.dynamics.surfaces[k].kind for k in loaded}) > 1
        share = press_share(asked, *ground, rolls)
        moved[loaded] = 1.0 - share, share
        return moved if 0.0 <= share <= 1.0 else shares

    def _find_ground(self, loaded: Indices) -> tuple[Vector, Matrix, Matrix] | None:
        """Return the zero-moment point (2,) and the corners of two contacts (k, 2), from one to the other and across [m].

        None where they are not two contacts on the ground, apart from each other, that something presses on.
        """
        dynamics, gravity = self.dynamics, self.dynamics.robot.model.gravity.linear
        if dynamics.robot.root not in FLOATING or not gravity.any():
            return None
        up, places = -gravity / np.linalg.norm(gravity), [dynamics.place(int(k)) for k in loaded]
        p_WB, force, moment = dynamics.total_wrench()
        corners = [dynamics.surfaces[k].vertices @ R.T + (p - p_WB) for k, (R, p) in zip(loaded, places, strict=True)]
        along = _find_way(corners, up)
        pressing, upright = float(up @ force), min(float(up @ R[:, 2]) for R, _ in places)
        if not (along.any() and pressing > 0.0 and upright > UPRIGHT):
            return None
        plane = np.column_stack((along, _turn(up, along)))
        flat = plane - np.outer(up, force @ plane / pressing)  # along the total force to the height of the root
        zmp = np.array((-plane[:, 1] @ moment, plane[:, 0] @ moment)) / pressing
        return zmp, corners[0] @ flat, corners[1] @ flat


def press_share(asked: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool) -> float:
    """Return the share of the second of two contacts.

    It changes by at most ``STEEPEST`` times as much as the share that was asked for: a quintic rises by 15/8 at most, twice as fast in two
    parts; to keep it between two bounds makes it no steeper; and it is eased in by at most the whole way in a share of ``EASED``.

    Args:
        asked: The share that was asked for, 0 to 1.
        zmp: (2,) zero-moment point, along the way from the first to the second and across [m].
        one: (k, 2) corners of the first [m].
        other: (k, 2) corners of the second.
        rolls: Whether the share goes through the one for which both press where they face each other, and uses all of both contacts.
    """
    wanted, toe, heel = asked, float(one[:, 0].max()), float(other[:, 0].min())
    if rolls and heel - toe > SAME:
        middle = switch_share(float(zmp[0]), toe, heel)
        wanted = middle * RISE(2.0 * asked) + (1.0 - middle) * RISE(2.0 * asked - 1.0)
    if not rolls:
        one, other = (c.mean(axis=0) + INSIDE * (c - c.mean(axis=0)) for c in (one, other))
    low, high = find_pressed_shares(zmp, one, other)
    pressed = min(max(wanted, low), high) if low <= high else min(max(0.5 * (low + high), 0.0), 1.0)
    return wanted + (pressed - wanted) * min(1.0, asked / EASED, (1.0 - asked) / EASED)


def find_pressed_shares(zmp: Vector, one: Matrix, other: Matrix) -> tuple[float, float]:
    """Return least and largest share of the second of two contacts for which both press inside themselves.

    The zero-moment point is in the mean of both, weighed by share, if it is within its farthest corner in every direction across an edge.

    Args:
        zmp: (2,) zero-moment point [m].
        one: (k, 2) corners of the first contact [m], in order around it.
        other: (k, 2) corners of the second.

    Returns:
        The shares; the least is above the largest where there is none.
    """
    edges = np.vstack((np.roll(one, -1, axis=0) - one, np.roll(other, -1, axis=0) - other, ALONG, ACROSS))
    normals = np.column_stack((edges[:, 1], -edges[:, 0]))
    lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    normals = normals[lengths > SAME] / lengths[lengths > SAME, None]
    normals = np.vstack((normals, -normals))
    here, there = (one @ normals.T).max(axis=0), (other @ normals.T).max(axis=0)
    gain, lacking = there - here, normals @ zmp - here
    least = lacking[gain > SAME] / gain[gain > SAME]
    most = lacking[gain < -SAME] / gain[gain < -SAME]
    return float(np.max(least, initial=0.0)), float(np.min(most, initial=1.0))


def _find_way(corners: list[Matrix], up: Vector) -> Vector:
    """Return the level direction across an edge that lies across, else from middle to middle, of length one; zero where there is none."""
    between = corners[1].mean(axis=0) - corners[0].mean(axis=0)
    between -= up * (up @ between)
    across = [_turn(c[1] - c[0], up) for c in corners if len(c) == 2]
    way = next((w for w in across if (w @ between) ** 2 > 0.5 * (w @ w) * (between @ between)), between)
    length, way = float(np.linalg.norm(way)), way * np.sign(way @ between)
    return way / length if length > SAME else np.zeros(3)


def _turn(one: Vector, other: Vector) -> Vector:
    """Return the cross product of two vectors; numpy's takes ten times as long."""
    (a, b, c), (x, y, z) = one.tolist(), other.tolist()
    return np.array((b * z - c * y, c * x - a * z, a * y - b * x))
