# SPDX-License-Identifier: Apache-2.0
"""Names and defaults that ``--help`` tells, written again so that help loads no numbers; a test holds them to the library's own."""

RULES = (
    "minimum_torque",
    "pseudo_inverse",
    "weighted_pseudo_inverse",
    "transition",
    "procedure_4",
    "recommended_transition",
    "transition_limited",
    "minimum_torque_limited",
)
DEFAULT_RULE = "transition_limited"
MODES = ("balanced", "paper")
SHEETS = ("joints", "torques", "forces", "cop", "energy", "wheels")
CUTOFF = 6.0  # Hz
