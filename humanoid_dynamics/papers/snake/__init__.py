# SPDX-License-Identifier: Apache-2.0
"""Kane's equations for n wheeled links: two equations of motion whatever the length, in O(n).

``chain`` what a snake is | ``unfolded``, ``passes`` the O(n) kernel | ``kane`` the paper's recursion | ``lagrange``, ``newton_euler``
its comparators | ``dynamics``, ``inverse``, ``wheels`` the questions | ``rates``, ``simulate`` motions | ``steering`` driving | ``urdf``
the same snake for the general engine | ``operations``, ``counts``, ``experiment`` the paper's comparisons.
"""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
