# SPDX-License-Identifier: Apache-2.0
"""The planar biped of seven links: Euler-Lagrange and Newton-Euler equations, and the torques they leave open [BP, sec. 3.1]."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
