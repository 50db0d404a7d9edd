# SPDX-License-Identifier: Apache-2.0
"""The equations of motion under constraints, and the questions asked of them: inverse, forward, impact, projection, audit."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
