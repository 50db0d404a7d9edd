# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics simulate``: a scene in the world, from beginning to end."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from humanoid_dynamics.cli.options import JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import fixed, make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.simulation.scenes.names import scene_names

if TYPE_CHECKING:
    from humanoid_dynamics.simulation.recorder import Recorder
    from humanoid_dynamics.simulation.scenes.run import Summary
    from humanoid_dynamics.simulation.scenes.scene import Moment, Scene
    from humanoid_dynamics.simulation.world import World


LONGEST = 3600.0
FAILED = 1
SceneArgument = Annotated[
    str,
    typer.Argument(
        help=f"One of {', '.join(scene_names())}, or path of a scene file.", metavar="SCENE"
    ),
]
HeadingOption = Annotated[
    float | None,
    typer.Option("--heading", help="Heading of the snake [rad]; that of the scene if not given."),
]
SecondsOption = Annotated[
    float | None,
    typer.Option("--duration", help="Simulated duration [s]; that of the scene if not given."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Scene parameter, such as release=0.5; may be repeated."),
]
RecordOption = Annotated[
    str,
    typer.Option(
        "--record", help="Record all time series to this .npz or .mcap file or bag folder."
    ),
]
SensorsOption = Annotated[
    bool,
    typer.Option(
        "--sensors", help="Record IMUs and encoders too, as the verb estimate reads them."
    ),
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics simulate pushed
  humanoid-dynamics simulate biped_step --set rule=minimum_torque
  humanoid-dynamics simulate falling --duration 2 --record falling.npz --json
  humanoid-dynamics simulate standing --record standing.mcap --sensors
  humanoid-dynamics simulate snake --heading 1.2
"""


def simulate(
    scene: SceneArgument,
    seconds: SecondsOption = None,
    record: RecordOption = "",
    heading: HeadingOption = None,
    setting: SetOption = None,
    sensors: SensorsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Simulate a scene and check energy, momentum and contacts; the exit status is 1 if a check fails."""
    from humanoid_dynamics.series.files import open_sink
    from humanoid_dynamics.simulation.recorder import Recorder, describe_run
    from humanoid_dynamics.simulation.scenes.file import load_scene
    from humanoid_dynamics.simulation.scenes.run import build_world, run_scene
    from humanoid_dynamics.simulation.sensors import Sensors

    if seconds is not None and not 0.0 < seconds <= LONGEST:
        raise HumanoidDynamicsError(
            f"--duration: received {seconds:g}, expected a time above zero and up to {LONGEST:g} s"
        )
    loaded = _steer(load_scene(scene, split_settings(setting or [])), heading)
    length = loaded.seconds if seconds is None else seconds
    if round(length / loaded.dt) < 1:
        raise HumanoidDynamicsError(
            f"--duration: received {length:g}, which is no step of scene {scene!r}; its steps take {loaded.dt:g} s"
        )
    about = describe_run(loaded)
    world = build_world(loaded)
    if sensors:
        Sensors(world).record()
    recorder = Recorder(
        world, sinks=[open_sink(Path(record), about)] if record else [], about=about
    )
    try:
        with show_progress("simulating") as bar:
            summary = run_scene(loaded, world, length, lambda t: bar.tell(t / length))
    finally:  # what was recorded until an interrupt is kept
        recorder.close()
    facts = scene_facts(loaded, world, summary, recorder) | ({"record": record} if record else {})
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
    else:
        _print(facts, make_console())
    if not facts["passed"]:
        raise typer.Exit(FAILED)


def split_settings(settings: list[str]) -> dict[str, str]:
    """Return name=value pairs as a table.

    Args:
        settings: The pairs.

    Returns:
        Name -> value.

    Raises:
        HumanoidDynamicsError: If one has no equals sign.
    """
    for setting in settings:
        if "=" not in setting:
            raise HumanoidDynamicsError(f"--set: received {setting!r}, expected name=value")
    return {name: value for name, _, value in (setting.partition("=") for setting in settings)}


def scene_facts(
    scene: "Scene", world: "World", summary: "Summary", recorder: "Recorder"
) -> dict[str, Any]:
    """Tell what a run showed in plain data, ready for JSON: SI units."""
    import numpy as np
    import pinocchio as pin

    from humanoid_dynamics.simulation.scenes.judge import judge_run
    from humanoid_dynamics.simulation.scenes.snake_pilot import SnakePilot

    com = pin.centerOfMass(world.robot.model, world.robot.data(), world.q)
    force = world.ground_force()
    checks = judge_run(summary, world, scene.tolerated)
    return {
        "scene": scene.name,
        "title": scene.title,
        "seconds": world.t,
        "steps": summary.steps,
        "microseconds_per_step": 1e6 * summary.pace,
        "statuses": summary.statuses,
        "reason": summary.reason,
        "handed_to_friction": summary.handed,
        "did_not_happen": summary.missed,
        "phases": [
            {
                "t": p.t,
                "label": p.label,
                "mobility": p.mobility,
                "energy_change": p.energy_change,
                "velocity_change": p.velocity_change,
            }
            for p in summary.phases
        ],
        "impacts": summary.impacts,
        "passed": all(check.passed for check in checks),
        "checks": [
            {
                "name": c.name,
                "unit": c.unit,
                "figure": c.figure,
                "allowed": c.allowed,
                "passed": c.passed,
                "why": c.why,
            }
            for c in checks
        ],
        "contact_residual": summary.residual,
        "complementarity": summary.complementarity,
        "cone_violation": summary.cone,
        "depth": summary.depth,
        "inside": None if summary.inside is None else summary.inside._asdict(),
        "closure": summary.closure,
        "impact_law": summary.rebound,
        "momentum": {"largest": summary.momentum, "missing": world.books.leaked[:3].tolist()},
        "spin": {"largest": summary.spin, "missing": world.books.leaked[3:].tolist()},
        "energy": {
            "start": world.books.start,
            "end": world.books.energy,
            "missing": world.books.missing,
            "work": dict(world.books.work),
        },
        "centre_of_mass": com.tolist(),
        "ground_force": force.tolist(),
        "weight": world.robot.mass * float(np.linalg.norm(world.robot.model.gravity.linear)),
        "digest": recorder.digest(),
        "warnings": [str(notice) for notice in world.notices if notice.severity == "warning"]
        + _tell_inside(summary),
        **({"snake": world.pilot.facts()} if isinstance(world.pilot, SnakePilot) else {}),
    }


def _tell_inside(summary: "Summary") -> list[str]:
    return (
        []
        if summary.inside is None
        else [f"went in past an edge and was let pass: {summary.inside}"]
    )


def _print(facts: dict[str, Any], console: Console) -> None:
    console.print(f"[bold]{facts['scene']}[/]  {facts['title']}", highlight=False)
    rate = (
        1e6 * facts["seconds"] / max(facts["steps"], 1) / max(facts["microseconds_per_step"], 1e-9)
    )
    console.print(
        f"{facts['seconds']:.3f} s in {facts['steps']} steps of {facts['microseconds_per_step']:.0f} us, {rate:.1f} times real time"
    )
    _print_notes(facts, console)
    rows = [
        (
            p["label"],
            f"{p['t']:.4f} s",
            str(p["mobility"]),
            f"{p['energy_change']:.2e} J",
            f"{p['velocity_change']:.2e}",
        )
        for p in facts["phases"]
    ]
    console.print()
    print_table(
        console, "structure", ("phase", "from", "freedoms", "energy change", "velocity jump"), rows
    )
    energy = facts["energy"]
    entries = [("at the start", fixed(energy["start"], 4))]
    entries += [(name, fixed(work, 4)) for name, work in energy["work"].items() if work]
    entries += [
        ("energy error", f"{energy['missing']:.2e}"),
        ("at the end", fixed(energy["end"], 4)),
    ]
    console.print()
    print_table(console, r"energy \[J]", ("", ""), entries)
    console.print()
    _print_checks(facts, console)
    x, y, z = facts["centre_of_mass"]
    console.print(f"at the end: centre of mass ({x:.3f}, {y:.3f}, {z:.3f}) m")
    console.print(f"ground force {facts['ground_force'][2]:.1f} N, weight {facts['weight']:.1f} N")
    if "snake" in facts:
        _print_snake(facts["snake"], console)
    console.print(f"sha256 of the run {facts['digest']}")
    if "record" in facts:
        console.print(f"record: {facts['record']}", markup=False, highlight=False, soft_wrap=True)


def _print_notes(facts: dict[str, Any], console: Console) -> None:
    from humanoid_dynamics.simulation.setup import SimulationStatus

    for status, count in facts["statuses"].items():
        if status is not SimulationStatus.OK:
            console.print(f"{count} steps {status}: {status.description}", style="yellow")
    for why, count in facts["handed_to_friction"].items():
        console.print(f"{count} steps handed to friction: {why}", style="yellow", highlight=False)
    for what in facts["did_not_happen"]:
        console.print(f"did not happen before the run ended: {what}", style="yellow", markup=False)
    if facts["reason"]:
        console.print(facts["reason"], style="yellow", markup=False)
    for warning in facts["warnings"]:
        console.print(f"warning: {warning}", style="yellow", markup=False)


def _print_checks(facts: dict[str, Any], console: Console) -> None:
    rows = [
        (
            c["name"],
            f"{c['figure']:.1e} {c['unit']}".strip(),
            f"{c['allowed']:.1e}",
            "pass" if c["passed"] else "FAIL",
        )
        for c in facts["checks"]
    ]
    print_table(
        console,
        f"the run: {'pass' if facts['passed'] else 'FAIL'}",
        ("what", "largest", "allowed", ""),
        rows,
    )
    console.print()
    for c in facts["checks"]:
        if not c["passed"]:
            console.print(
                f"FAIL: {c['name']} is {c['figure']:.1e} {c['unit']}, allowed are {c['allowed']:.1e}",
                style="red",
                highlight=False,
            )
        if c["why"]:
            console.print(f"{c['name']}: {c['why']}", style="yellow", highlight=False)
    console.print(
        f"contacts: depth {1e3 * facts['depth']:.4f} mm, {facts['impacts']} impacts; closure {facts['closure']:.1e} m"
    )


def _print_snake(snake: dict[str, Any], console: Console) -> None:
    from humanoid_dynamics.control.snake_driver import SnakeDriverStatus

    grip = "no wheel slips" if snake["slip_margin"] >= 0.0 else "more than a wheel can hold"
    console.print(
        f"snake: heading {snake['heading']:.3f} rad, head at {snake['head']:.3f} rad in the mean of the last period"
    )
    console.print(
        f"side forces up to {snake['side_force']:.2f} N, at least {snake['slip_margin']:.2f} N from slipping: {grip}"
    )
    for status, count in snake["statuses"].items():
        if status is not SnakeDriverStatus.DRIVING:
            console.print(f"{count} steps {status}: {status.description}", style="yellow")


def _steer(scene: "Scene", heading: float | None) -> "Scene":
    """Give the snake of a scene another heading, and leave out where the scene turns it."""
    if heading is None:
        return scene
    if scene.driving is None or not math.isfinite(heading):
        problem = (
            f"received {heading:g}, expected a finite angle"
            if scene.driving
            else f"scene {scene.name!r} has no snake that is driven"
        )
        raise HumanoidDynamicsError(f"--heading: {problem}")
    moments = tuple(
        _keep_straight(moment) for moment in scene.moments if moment.events or moment.pushes
    )
    return replace(scene, driving=replace(scene.driving, heading=heading), moments=moments)


def _keep_straight(moment: "Moment") -> "Moment":
    """A moment without its heading, and without the words for it."""
    words = [part for part in moment.label.split(", ") if not part.startswith("heading ")]
    return replace(moment, heading=None, label=", ".join(words))
