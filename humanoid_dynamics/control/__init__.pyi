# SPDX-License-Identifier: Apache-2.0
from .balance import BalanceController as BalanceController
from .balance_settings import BalanceSettings as BalanceSettings
from .balance_settings import BalanceStatus as BalanceStatus
from .effort_guard import EffortGuard as EffortGuard
from .effort_guard import GuardSettings as GuardSettings
from .effort_guard import GuardStatus as GuardStatus
from .pd import PdController as PdController
from .reference import Reference as Reference
from .snake_driver import Drive as Drive
from .snake_driver import SnakeDriver as SnakeDriver
from .snake_driver import SnakeDriverStatus as SnakeDriverStatus
from .whole_body import WholeBodyLaw as WholeBodyLaw
