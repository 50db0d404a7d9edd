# SPDX-License-Identifier: Apache-2.0
from .cone import WrenchCone as WrenchCone
from .cone import build_wrench_cone as build_wrench_cone
from .ground import Ground as Ground
from .phases import ContactPhaseStatus as ContactPhaseStatus
from .phases import Phase as Phase
from .phases import PhaseManager as PhaseManager
from .rolling_transfer import RollingTransfer as RollingTransfer
from .schedule import ContactInterval as ContactInterval
from .schedule import ContactSchedule as ContactSchedule
from .transfer import feasible_shares as feasible_shares
from .transfer import transfer_share as transfer_share
from .wrench import ContactWrench as ContactWrench
from .wrench import measure_wrench as measure_wrench
