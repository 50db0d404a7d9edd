# SPDX-License-Identifier: Apache-2.0
from .base import BaseEstimator as BaseEstimator
from .motor_settings import MotorData as MotorData
from .record import EstimatorState as EstimatorState
from .results import BaseEstimate as BaseEstimate
from .results import ContactEstimate as ContactEstimate
from .settings import EstimatorSettings as EstimatorSettings
from .settings import EstimatorStatus as EstimatorStatus
from .thermal import ThermalModel as ThermalModel
