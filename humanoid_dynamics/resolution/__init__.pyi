# SPDX-License-Identifier: Apache-2.0
from .answer import Answer as Answer
from .certificate import AnswerStatus as AnswerStatus
from .certificate import Certificate as Certificate
from .inverse import InverseDynamics as InverseDynamics
from .inverse import inverse_dynamics as inverse_dynamics
from .objectives import Objective as Objective
from .objectives import ShareObjective as ShareObjective
from .objectives import TorqueObjective as TorqueObjective
from .rules import RULES as RULES
from .rules import Rule as Rule
from .rules import find_rule as find_rule
from .step_bounds import StepBound as StepBound
from .step_bounds import SwitchBound as SwitchBound
from .step_bounds import bound_switch_steps as bound_switch_steps
from .step_bounds import bound_torque_step as bound_torque_step
from .step_bounds import measure_switch_steps as measure_switch_steps
