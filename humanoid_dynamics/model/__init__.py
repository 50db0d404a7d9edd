# SPDX-License-Identifier: Apache-2.0
"""What the robot is: its tree, limits, surfaces and loops, and how it is read from a URDF."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
