# SPDX-License-Identifier: Apache-2.0
"""State estimation: pose and velocity of the base, and contacts, from an IMU and the joints."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
