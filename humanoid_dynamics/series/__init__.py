# SPDX-License-Identifier: Apache-2.0
"""Time series with names: in memory, as numpy archives, and as bags with the messages of ROS 2."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
