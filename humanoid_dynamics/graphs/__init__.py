# SPDX-License-Identifier: Apache-2.0
"""Which nodes run together: graphs as data, and processes that are looked after; no ROS here."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
