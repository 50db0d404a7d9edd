# SPDX-License-Identifier: Apache-2.0
"""Geometry without a robot: arrays as values, frames, polygons, cones, small dense kernels."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
