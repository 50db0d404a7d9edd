# SPDX-License-Identifier: Apache-2.0
from .adaptation import ParameterBounds as ParameterBounds
from .adaptation import scale_gains as scale_gains
from .adaptive_gains import AdaptiveGains as AdaptiveGains
from .controller import AdaptationStatus as AdaptationStatus
from .controller import AdaptiveAnswer as AdaptiveAnswer
from .controller import AdaptiveController as AdaptiveController
from .controller import Desired as Desired
from .decomposition import Cut as Cut
from .decomposition import Decomposition as Decomposition
from .decomposition import decompose as decompose
from .inverse import SubsystemAnswer as SubsystemAnswer
from .inverse import solve_subsystems as solve_subsystems
