# SPDX-License-Identifier: Apache-2.0
"""Quadratic programs: one value type and one compiled solver."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
