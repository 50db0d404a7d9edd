# SPDX-License-Identifier: Apache-2.0
"""The dynamics filter as the paper has it: control points, contact procedure, collisions [DF]."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
