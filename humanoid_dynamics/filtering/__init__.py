# SPDX-License-Identifier: Apache-2.0
"""The dynamics filter: any reference in, consistent motion out, on line and off line."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
