# SPDX-License-Identifier: Apache-2.0
"""Choosing one answer among many: torques and contact wrenches for a wanted motion."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
