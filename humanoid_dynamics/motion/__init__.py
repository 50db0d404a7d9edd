# SPDX-License-Identifier: Apache-2.0
"""Motions as functions of time: clips in and out, schedules, gaits, blending."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
