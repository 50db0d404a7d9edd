"""``humanoid-dynamics demo``: what a robot is, and what holds it still."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from humanoid_dynamics.cli.describe import JsonOption, print_facts
from humanoid_dynamics.cli.tables import fixed, make_table
from humanoid_dynamics.model.facts import describe_robot
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.inverse_dynamics import inverse_dynamics

RobotOption = Annotated[str, typer.Option("--robot", help="Catalogue name, or path of a URDF or xacro file.")]
RuleOption = Annotated[str, typer.Option("--rule", help="Rule that chooses the torques.")]


def demo(robot: RobotOption = "human28", rule: RuleOption = "minimum_torque", as_json: JsonOption = False) -> None:
    """Show a robot and the torques and foot forces that hold it still, with their certificate.

    Example: humanoid-dynamics demo --robot human28
    """
    loaded = load_robot(robot)
    answer = inverse_dynamics(loaded, State.at_rest(loaded), np.zeros(loaded.nv), rule=rule)
    if as_json:
        typer.echo(json.dumps(answer_facts(loaded, answer), indent=2))
        return
    console = Console(highlight=False)
    print_facts(describe_robot(loaded), console)
    print_answer(loaded, answer, console)


def answer_facts(robot: RobotModel, answer: Answer) -> dict[str, Any]:
    """Tell an answer in plain data, ready for JSON."""
    certificate = {name: _plain(value) for name, value in vars(answer.certificate).items()}
    wrenches = {
        name: {"force": w.f_W.tolist(), "moment": w.m_W.tolist(), "normal_force": w.normal_force, "cop": w.cop.tolist()}
        for name, w in answer.wrenches.items()
    }
    torques = dict(zip(robot.actuated, answer.tau.tolist(), strict=True))
    return {"robot": robot.name, "torques": torques, "wrenches": wrenches, "certificate": certificate}


def print_answer(robot: RobotModel, answer: Answer, console: Console) -> None:
    """Print torques, contact forces and certificate."""
    limits = robot.limits.effort[robot.actuated_v]
    rows = [
        (
            name,
            f"{fixed(tau, 3)} N·m",
            "free" if np.isinf(limit) else f"{limit:.0f} N·m",
            "" if np.isinf(limit) else f"{abs(tau) / limit:.0%}",
        )
        for name, tau, limit in zip(robot.actuated, answer.tau, limits, strict=True)
    ]
    console.print()
    console.print(make_table("torques that hold it still", ("joint", "torque", "limit", "used"), rows))
    forces = [
        (
            name,
            f"{w.normal_force:.6f} N",
            f"{w.friction_force:.3f} N",
            f"{fixed(w.cop[0] * 1e3, 1)}, {fixed(w.cop[1] * 1e3, 1)} mm",
            f"{w.cop_margin * 1e3:.1f} mm",
        )
        for name, w in answer.wrenches.items()
    ]
    console.print()
    console.print(make_table("contact forces", ("surface", "normal", "friction", "centre of pressure", "margin"), forces))
    total = sum(w.normal_force for w in answer.wrenches.values())
    weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
    console.print(f"sum of normal forces {total:.9f} N, weight {weight:.9f} N")
    _print_certificate(answer, console)


def _print_certificate(answer: Answer, console: Console) -> None:
    certificate = answer.certificate
    style = "green" if certificate.status == "ok" else "red"
    console.print(f"\n[bold]certificate[/]  [{style}]{certificate.status}[/]")
    console.print(
        f"equation of motion {certificate.residual:.1e}   normal {certificate.normal_margin:.1f} N   "
        f"friction {certificate.friction_margin:.1f} N   centre of pressure {certificate.cop_margin * 1e3:.1f} mm   "
        f"torque {certificate.torque_margin:.0%} left   redundancy {certificate.redundancy}"
    )
    for reason in certificate.reasons:
        console.print(f"  {reason}", markup=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value
