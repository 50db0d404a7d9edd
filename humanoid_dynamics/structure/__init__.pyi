# SPDX-License-Identifier: Apache-2.0
from .detachment import detach as detach
from .detachment import make_breakable as make_breakable
from .detachment import transfer as transfer
from .events import Break as Break
from .events import Connect as Connect
from .events import Cut as Cut
from .events import Touch as Touch
from .joining import connect_points as connect_points
from .joining import join as join
from .links import Link as Link
from .links import Structure as Structure
from .virtual import with_virtual_links as with_virtual_links
