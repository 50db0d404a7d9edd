# SPDX-License-Identifier: Apache-2.0
"""Virtual decomposition: the same dynamics cut into links and joints, each with its own small equation [BP, sec. 3.2]."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
