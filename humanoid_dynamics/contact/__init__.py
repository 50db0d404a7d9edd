# SPDX-License-Identifier: Apache-2.0
"""Contacts: which wrenches a surface can carry, and how close one comes to what it cannot."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
