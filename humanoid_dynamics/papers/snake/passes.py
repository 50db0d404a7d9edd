# SPDX-License-Identifier: Apache-2.0
"""Sums along the chain: lines of arrays in numpy, one pass without work space where they are compiled.

Each sum is written as the interpreter reads it; beside it stands the loop that the compiler puts in its place, because array by array
a hundred links cost more in work space than in arithmetic.  Both take any precision and stay in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

PASS_OPTIONS = {
    "forceinline": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz"},
}
"""How a pass is compiled: sums in any order, but infinities and what is not a number keep their meaning."""


def add_up(weights: Any, x: Any) -> Any:
    """Running sum of weighted differences of neighbours, (n-1,) from (n-1,) and (n,)."""
    return np.cumsum(weights * (x[1:] - x[:-1]))


def add_up_in_one_pass(weights: Any, x: Any) -> Any:
    """The same, written for the compiler."""
    sums = np.empty_like(weights)
    total = x.dtype.type(0)
    for i in range(weights.size):
        total += weights[i] * (x[i + 1] - x[i])
        sums[i] = total
    return sums


def weigh(c: Any, z: Any, a: Any, rows: Any) -> tuple[Any, ...]:
    """The sums P, R, X, Y, Z of the equations of motion over links 2..n."""
    mass, scaled, excess = rows[2], rows[3], rows[4]
    e = excess * z
    f = a * e
    Q = np.dot(f, z)
    return np.dot(e, z), np.dot(e, c), np.dot(f, c), np.dot(a, mass) + Q, np.dot(a, scaled) - Q


def weigh_in_one_pass(c: Any, z: Any, a: Any, rows: Any) -> tuple[Any, ...]:
    """The same, written for the compiler."""
    mass, scaled, excess = rows[2], rows[3], rows[4]
    P = R = X = Y = Z = c.dtype.type(0)
    for i in range(c.size):
        e = excess[i] * z[i]
        f = a[i] * e
        Q = f * z[i]
        P += e * z[i]
        R += e * c[i]
        X += f * c[i]
        Y += a[i] * mass[i] + Q
        Z += a[i] * scaled[i] - Q
    return P, R, X, Y, Z


def press(c: Any, z: Any, torques: Any, lever: Any, first_lever: Any) -> tuple[Any, Any]:
    """Generalized force of the joint torques; the sum over the first torque is that torque, or nothing for a single link."""
    net = torques.copy()
    net[:-1] -= torques[1:]
    net = lever * net
    return np.dot(z, net), np.dot(c, net) - first_lever * np.sum(torques[:1])


def press_in_one_pass(
    c: Any, z: Any, torques: Any, lever: Any, first_lever: Any
) -> tuple[Any, Any]:
    """The same, written for the compiler."""
    F_1 = F_2 = c.dtype.type(0)
    last = torques.size - 1
    for i in range(last):
        net = lever[i] * (torques[i] - torques[i + 1])
        F_1 += z[i] * net
        F_2 += c[i] * net
    if last >= 0:
        net = lever[last] * torques[last]
        F_1 += z[last] * net
        F_2 += c[last] * net - first_lever * torques[0]
    return F_1, F_2


PASSES = ((add_up, add_up_in_one_pass), (weigh, weigh_in_one_pass), (press, press_in_one_pass))
"""Each sum and what the compiler puts in its place."""
