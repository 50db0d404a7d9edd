# SPDX-License-Identifier: Apache-2.0
"""Rules that choose torques among all that are right, as values.

A rule names an objective and says whether limits are kept.  A rule of your own is one more value:

    gentle_knees = Rule("gentle_knees", lambda dynamics: TorqueObjective(dynamics, 1e-6, weights), False, "...", "...")
    hd.inverse_dynamics(robot, state, a, rule=gentle_knees)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from numpy.typing import ArrayLike

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.resolution.cop_feasible_load import PressedShareObjective
from humanoid_dynamics.resolution.load_objective import ShareObjective
from humanoid_dynamics.resolution.objectives import Objective, TorqueObjective, Weights, as_value
from humanoid_dynamics.resolution.problem import DynamicsProblem

WRENCH_WEIGHT = 1e-6
DEFAULT_RULE = (
    "transition_limited"  # of every function, command, node and graph: it keeps all limits
)


@dataclass(frozen=True)
class Rule:
    """One way to choose.

    Attributes:
        name: Its name.
        objective: What it makes small: a function that prepares an objective for a ``DynamicsProblem``.
        limited: Whether friction, centre of pressure, unilateral contact and torque limits are kept.
        continuous: Whether torques have no step where a contact comes or goes with a share of zero; with limits too, also where these
            decide: a contact then fades, see ``fading``.
        summary: What it does, in a line.
        source: Where it comes from.
    """

    name: str
    objective: Callable[[DynamicsProblem], Objective]
    limited: bool
    continuous: bool
    summary: str
    source: str


@dataclass(frozen=True)
class LeastTorques:
    """Prepares a ``TorqueObjective``; a value, so that rules of the same weights are equal.

    Attributes:
        wrench_weight: As in ``TorqueObjective``.
        torque_weights: Likewise.
        unit_wrench: Likewise.
        scaled: Likewise.
    """

    wrench_weight: Weights
    torque_weights: Weights | None = None
    unit_wrench: bool = False
    scaled: bool = False

    def __call__(self, problem: DynamicsProblem) -> TorqueObjective:
        """Prepare the objective for a question."""
        return TorqueObjective(
            problem, self.wrench_weight, self.torque_weights, self.unit_wrench, scaled=self.scaled
        )


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule(
                "minimum_torque",
                LeastTorques(WRENCH_WEIGHT),
                False,
                False,
                "least squared joint torques; contact wrenches are free",
                "[BP, eq. 65-70]",
            ),
            Rule(
                "pseudo_inverse",
                LeastTorques(1.0, unit_wrench=True),
                False,
                False,
                "least squared torques and wrenches together, in N and N·m",
                "[BP, eq. 27]",
            ),
            Rule(
                "weighted_pseudo_inverse",
                LeastTorques(1.0, unit_wrench=True, scaled=True),
                False,
                False,
                "least squared torques and wrenches together, body weight like 100 N·m and moments at 0.1 m: no unit matters",
                "[BP, eq. 27]",
            ),
            Rule(
                "transition",
                ShareObjective,
                False,
                True,
                "each contact takes its share of the total force, and of the moment that is left",
                "[BP, eq. 28-29, 71]",
            ),
            Rule(
                "procedure_4",
                ShareObjective,
                False,
                True,
                "the same torques by load split and internal wrench; `split_by_procedure_4` tells these",
                "[BP, eq. 72-74]",
            ),
            Rule(
                "recommended_transition",
                PressedShareObjective,
                False,
                True,
                "`transition` kept where contacts press inside themselves, in two parts where a step of two contacts rolls over",
                "[BP, eq. 28-29, assumption 2]",
            ),
            Rule(
                "transition_limited",
                ShareObjective,
                True,
                True,
                "the push nearest to that of `transition` inside all limits; contacts with a small share fade",
                "[BP, eq. 28-29]",
            ),
            Rule(
                "minimum_torque_limited",
                LeastTorques(WRENCH_WEIGHT),
                True,
                False,
                "least squared joint torques inside all limits: contacts that push, friction, centre of pressure, yaw, torques",
                "[BP, eq. 65]",
            ),
        )
    }
)


def find_rule(name: str | Rule) -> Rule:
    """Return the rule of that name.

    Raises:
        UnknownNameError: If there is none.
    """
    if isinstance(name, Rule):
        return name
    if name not in RULES:
        raise UnknownNameError("rule", name, RULES)
    return RULES[name]


def weighted_pseudo_inverse(
    wrench_weight: ArrayLike = 1.0, torque_weights: ArrayLike | None = None
) -> Rule:
    """Return the pseudo-inverse of torques and wrenches with weights of its own; its answer depends on units, hence on them.

    Args:
        wrench_weight: Weight of the squared wrenches, in N and N·m, against squared torques: one for all, one for each number that contacts
            push with (six for a face, five for an edge, three for a point), or a symmetric, positive definite matrix of these.
        torque_weights: Weights of the squared torques: one for all, (na,) one for each motor, or a (na, na) matrix; 1 where None.

    Returns:
        The rule; equal to another of the same weights.  Weights are checked where it meets a robot.
    """
    objective = LeastTorques(
        as_value(wrench_weight),
        None if torque_weights is None else as_value(torque_weights),
        unit_wrench=True,
    )
    return Rule(
        "weighted_pseudo_inverse",
        objective,
        False,
        False,
        "least squared torques and wrenches, weighted",
        "[BP, eq. 27]",
    )
