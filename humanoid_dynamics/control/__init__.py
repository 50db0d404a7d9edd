# SPDX-License-Identifier: Apache-2.0
"""From references and measured states to commands, with guards and limits on the way out."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
