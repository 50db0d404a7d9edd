# SPDX-License-Identifier: Apache-2.0
"""The world that steps: bodies under torques, contacts and impacts, in chains that open and close, with books that must balance."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
