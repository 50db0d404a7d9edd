# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics demo``: what a robot is, and what holds it still."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from humanoid_dynamics.cli.describe import print_facts
from humanoid_dynamics.cli.names import DEFAULT_RULE, RULES
from humanoid_dynamics.cli.options import ConfigOption, JsonOption, RootOption
from humanoid_dynamics.cli.tables import fixed, make_console, print_table

if TYPE_CHECKING:
    from humanoid_dynamics.model.robot import RobotModel
    from humanoid_dynamics.resolution.answer import Answer


RobotOption = Annotated[
    str, typer.Option("--robot", help="Catalogue name, or path of a URDF or xacro file.")
]
RuleOption = Annotated[
    str,
    typer.Option("--rule", help=f"Rule that distributes the contact forces: {' or '.join(RULES)}."),
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics demo
  humanoid-dynamics demo --robot legs12 --rule pseudo_inverse
"""


def demo(
    robot: RobotOption = "human28",
    config: ConfigOption = "",
    root: RootOption = "",
    rule: RuleOption = DEFAULT_RULE,
    as_json: JsonOption = False,
) -> None:
    """Compute and print the torques and contact forces of a standing robot, with their certificate."""
    import numpy as np

    from humanoid_dynamics.model.facts import describe_robot
    from humanoid_dynamics.model.load import load_robot
    from humanoid_dynamics.model.reading.catalogue import find_description
    from humanoid_dynamics.model.state import State
    from humanoid_dynamics.resolution.inverse import inverse_dynamics

    loaded = load_robot(robot, description=find_description(config), root=root or None)
    answer = inverse_dynamics(loaded, State.at_rest(loaded), np.zeros(loaded.nv), rule=rule)
    if as_json:
        typer.echo(json.dumps(answer_facts(loaded, answer), indent=2, allow_nan=False))
        return
    console = make_console()
    print_facts(describe_robot(loaded), console)
    print_answer(loaded, answer, console)


def answer_facts(robot: "RobotModel", answer: "Answer") -> dict[str, Any]:
    """Tell an answer in plain data, ready for JSON: forces in N, moments and torques in N·m, lengths in m; None for no number."""
    wrenches = {
        name: {
            "force": w.f_W.tolist(),
            "moment": w.m_W.tolist(),
            "normal_force": w.normal_force,
            "cop": w.cop.tolist(),
        }
        for name, w in answer.wrenches.items()
    }
    return {
        "robot": robot.name,
        "torques": dict(zip(robot.actuated, answer.tau.tolist(), strict=True)),
        "wrenches": wrenches,
        "certificate": {
            name: _plain(value) for name, value in answer.certificate.as_dict().items()
        },
    }


def print_answer(robot: "RobotModel", answer: "Answer", console: Console) -> None:
    """Print torques, contact forces and certificate."""
    import numpy as np

    if robot.actuated:
        console.print()
        print_table(
            console,
            "torques that hold it still",
            ("joint", "torque", "limit", "used"),
            _torque_rows(robot, answer),
        )
    if answer.wrenches:
        console.print()
        columns = ("surface", "normal", "friction", "centre of pressure", "inside by")
        print_table(console, "contact forces", columns, _wrench_rows(answer))
        total = sum(w.normal_force for w in answer.wrenches.values())
        console.print(
            f"sum of normal forces {total:.9f} N, weight {robot.mass * np.linalg.norm(robot.model.gravity.linear):.9f} N"
        )
    elif robot.root != "fixed":
        console.print("\nno contact surface rests on the ground: nothing bears the weight")
    _print_certificate(answer, console)


def _torque_rows(robot: "RobotModel", answer: "Answer") -> list[tuple[str, ...]]:
    import numpy as np

    from humanoid_dynamics.resolution.units import coordinate_units

    rows: list[tuple[str, ...]] = []
    units = coordinate_units(robot)
    for name, index, tau in zip(robot.actuated, robot.actuated_v, answer.tau, strict=True):
        limit, unit = robot.limits.effort[index], units[index]
        bounded = (
            ("free", "") if np.isinf(limit) else (f"{limit:.0f} {unit}", f"{abs(tau) / limit:.0%}")
        )
        rows.append((name, f"{fixed(tau, 3)} {unit}", *bounded))
    return rows


def _wrench_rows(answer: "Answer") -> list[tuple[str, ...]]:
    return [
        (
            name,
            f"{fixed(w.normal_force, 6)} N",
            f"{fixed(w.friction_force, 3)} N",
            f"{fixed(w.cop[0] * 1e3, 1)}, {fixed(w.cop[1] * 1e3, 1)} mm",
            f"{w.cop_margin * 1e3:.1f} mm",
        )
        for name, w in answer.wrenches.items()
    ]


def _print_certificate(answer: "Answer", console: Console) -> None:
    import numpy as np

    from humanoid_dynamics.resolution.certificate import AnswerStatus

    certificate = answer.certificate
    style = "green" if certificate.status is AnswerStatus.OK else "red"
    console.print(
        f"\n[bold]certificate[/]  [{style}]{certificate.status}[/]: {certificate.status.description}"
    )
    for reason in certificate.reasons:
        console.print(f"  {reason}", markup=False)
    rows = [("equation of motion met to", f"{certificate.residual:.1e} N or N·m")]
    if answer.wrenches:
        rows += [
            ("normal force to lift-off", f"{certificate.normal_margin:.1f} N"),
            ("friction force to slipping", f"{certificate.friction_margin:.1f} N"),
            ("centre of pressure to the rim", f"{certificate.cop_margin * 1e3:.1f} mm"),
        ]
        if np.isfinite(certificate.yaw_margin):
            rows.append(("moment to turning on the spot", f"{certificate.yaw_margin:.1f} N·m"))
    rows += [
        ("torque left in the weakest motor", f"{certificate.torque_margin:.0%}"),
        ("freedom left to choose contact forces", f"{certificate.redundancy}"),
        ("time", f"{certificate.time * 1e3:.2f} ms"),
    ]
    for label, value in rows:
        console.print(f"  {label:<38}{value:>20}")


def _plain(value: Any) -> Any:
    import numpy as np

    if isinstance(value, float) and not np.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value
