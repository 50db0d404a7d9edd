# SPDX-License-Identifier: Apache-2.0
from . import biped as biped
from . import dynamics_filter as dynamics_filter
from . import snake as snake
from . import vdc as vdc
