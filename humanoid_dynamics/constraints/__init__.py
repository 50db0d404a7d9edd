# SPDX-License-Identifier: Apache-2.0
"""What the motion must satisfy: rows J v = 0 with their drift and position error, and the null-space map v = Gamma u."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
