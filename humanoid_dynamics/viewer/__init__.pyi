# SPDX-License-Identifier: Apache-2.0
from .opening import show as show
from .page import Page as Page
from .server import PageServer as PageServer
from .world_session import WorldSession as WorldSession
