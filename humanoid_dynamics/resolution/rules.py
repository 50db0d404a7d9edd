"""Rules that choose torques among all that are right, as values: what each one weighs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from humanoid_dynamics.errors import UnknownNameError

TYPICAL_TORQUE = 100.0  # N·m; what a wrench is weighed against, so that the weights below have no unit
TYPICAL_LEVER = 0.1  # m; half a foot, turns the moments of a wrench into forces


@dataclass(frozen=True)
class Rule:
    """A quadratic choice: least sum of squared torques plus weighted, squared contact wrenches.

    Attributes:
        name: Its name.
        wrench_weight: Weight of a wrench of body weight against ``TYPICAL_TORQUE`` [-]; never zero, because a straight leg carries
            load without torque.
        unit_wrench: Whether wrenches weigh by their bare numbers in N and N·m instead, as the literature's pseudo-inverse does.
        summary: What it does, in a line.
        source: Where it comes from.
    """

    name: str
    wrench_weight: float
    unit_wrench: bool
    summary: str
    source: str


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule("minimum_torque", 1e-6, False, "least squared joint torques; contact wrenches are free", "[BP, eq. 65-70]"),
            Rule("pseudo_inverse", 1.0, True, "least squared torques and wrenches together, in N and N·m", "[BP, eq. 27]"),
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
