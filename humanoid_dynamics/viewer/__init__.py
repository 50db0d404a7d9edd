# SPDX-License-Identifier: Apache-2.0
"""A browser page over a picture value: what is drawn, where it comes from, and who may touch it."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
