# SPDX-License-Identifier: Apache-2.0
"""Pictures of records and of robots, drawn with matplotlib; everything else runs without it."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
