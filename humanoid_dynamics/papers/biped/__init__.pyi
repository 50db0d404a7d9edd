# SPDX-License-Identifier: Apache-2.0
from .body import BipedBody as BipedBody
from .body import build_body as build_body
from .schedule import STEP_RULES as STEP_RULES
from .schedule import Step as Step
from .schedule import build_step as build_step
from .schedule import measure_jumps as measure_jumps
from .step import StepTorques as StepTorques
from .transition import recommend_share as recommend_share
