# SPDX-License-Identifier: Apache-2.0
"""How links hang together: four pointers per link, virtual links, connect, cut, events; and the trees that go with them."""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
