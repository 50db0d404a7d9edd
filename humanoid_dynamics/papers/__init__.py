# SPDX-License-Identifier: Apache-2.0
"""The papers' own procedures: readable, with equation numbers.

``biped`` Euler-Lagrange and Newton-Euler of a planar biped | ``vdc`` virtual decomposition control | ``snake`` Kane's equations of n
wheeled links | ``dynamics_filter`` the dynamics filter.
"""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
