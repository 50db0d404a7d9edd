# SPDX-License-Identifier: Apache-2.0
"""Steps of the world beside a step of MuJoCo and Pinocchio's constrained dynamics: a robot that stands, held by its drives.

The robot is that of MuJoCo: it has neither damping nor dry friction in its joints, and no limits.  Every step is a whole one, as
``World.step`` takes it: detection, impacts, certificate, the books of energy and the report.  Beside others a step is timed alone, each in
turn; that which slides has to be put back to its state before every call, and so is the one that sticks, which it is compared with.
Simulated over real time is measured as a simulation goes, many steps one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from benchmarks.closed_chain_forward import PEER, build_constraint_dynamics
from benchmarks.interleave import Contender, Timing
from benchmarks.mujoco_step import CORNER_RADIUS, STEP, build_step, place_corners
from benchmarks.rows import Measurement, Race, compare
from benchmarks.stand import Stand
from humanoid_dynamics.errors import MissingExtraError, UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.steps.rows import M_P, ROUNDS
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import read_only

PATHS = ("simulation_rigid", "simulation_points", "real_time")
RIGID, POINTS, ARRAYS, SLIDING = (
    "World, rigid feet",
    "World, 8 points",
    "World, 8 points, numpy",
    "World, 8 points that slide",
)
POINTS_RUN, RIGID_RUN = "run of World, 8 points", "run of World, rigid feet"
TIME_STEP = 1e-3  # s
RUN = 25  # steps in one go
STIFFNESS, DAMPING = 8000.0, 150.0  # N·m/rad, N·m·s/rad
SETTLING = 200
GLIDE = 0.3  # m/s
FOUR = 4.0


def build_simulation(
    stand: Stand, names: Collection[str] = PATHS
) -> tuple[list[Race], tuple[str, ...]]:
    """Return the race of single steps and that of runs, and why MuJoCo is missing in it, if it is.

    Args:
        stand: The robot.
        names: Paths that are asked for; nothing is built where none of ours is among them.

    Returns:
        No race or both, and notes.
    """
    if not set(names).intersection(PATHS):
        return [], ()
    contenders, notes = [], []
    try:
        contenders.append(build_step(stand.robot))
    except (MissingExtraError, UnsupportedRobotError) as reason:
        notes.append(f"{STEP} is not timed: {reason}")
    stand.use(0)
    contenders.append(
        Contender(PEER, build_constraint_dynamics(stand, np.zeros(len(stand.robot.actuated_v))))
    )
    rigid, points = (_stand_still(stand.robot, law, compiled=True) for law in ("paper", "friction"))
    arrays, sliding = (
        _stand_still(stand.robot, "friction", compiled=choice) for choice in (False, True)
    )
    _glide(sliding)
    contenders += [Contender(RIGID, _steps(rigid)), Contender(ARRAYS, _steps(arrays))]
    contenders += [
        Contender(name, _steps(world), _put_back(world))
        for name, world in ((POINTS, points), (SLIDING, sliding))
    ]
    runs = [Contender(POINTS_RUN, _run(points)), Contender(RIGID_RUN, _run(rigid))]
    steps = Race(
        "simulation",
        contenders,
        lambda times: _measure(times, float(sliding.tables.numbers[ROUNDS])),
    )
    return [steps, Race("real_time", runs, _measure_runs)], tuple(notes)


def list_corners(robot: RobotModel) -> tuple[TouchPoint, ...]:
    """Return four corners of each sole as touch points, the places of MuJoCo's balls.

    Args:
        robot: The robot.
    """
    points = []
    for name in robot.stance:
        surface = robot.surface(name)
        down = surface.X_LC.rotation[:, 2] * CORNER_RADIUS
        corners = enumerate(place_corners(surface))
        points += [
            TouchPoint(f"{name}.{k}", surface.link, corner - down, 0.0, surface.friction)
            for k, corner in corners
        ]
    return tuple(points)


def _stand_still(robot: RobotModel, contact: str, *, compiled: bool) -> World:
    drive, none = build_drive(robot, STIFFNESS, DAMPING), read_only(np.zeros(robot.nv))
    bare = replace(robot, damping=none, friction=none)
    setup = Setup(
        terrain=(build_plane(),),
        points=list_corners(robot),
        contact=contact,
        drive=drive,
        compiled=compiled,
        limits=False,
    )
    world = World(bare, setup)
    for _ in range(SETTLING):
        world.step(TIME_STEP)
    return world


def _steps(world: World) -> Callable[[], object]:
    return lambda: world.step(TIME_STEP)


def _put_back(world: World) -> Callable[[], object]:
    """Return what puts a world back to where it is now."""
    start = world.keep()
    return lambda: world.restore(start)


def _run(world: World) -> Callable[[], object]:
    def run() -> None:
        for _ in range(RUN):
            world.step(TIME_STEP)

    return run


def _glide(world: World) -> None:
    """Let the soles slide, and leave nothing that tells the forces of the next step: it solves several systems."""
    v = np.array(world.v)
    v[0] += GLIDE
    world.set_velocity(v)
    world.step(TIME_STEP)
    world.tables.memory[:, M_P:] = 0.0


def _measure_runs(times: Mapping[str, Timing]) -> dict[str, Measurement]:
    return {
        "real_time.points": _compare_with_time(times[POINTS_RUN]),
        "real_time.rigid": _compare_with_time(times[RIGID_RUN]),
    }


def _compare_with_time(run: Timing) -> Measurement:
    step = run.median / RUN
    return Measurement(1e6 * TIME_STEP / step, step, note=f"{RUN} steps one after the other")


def _measure(times: Mapping[str, Timing], solved: float) -> dict[str, Measurement]:
    measured = {
        "simulation_rigid.compiled": compare(
            times[RIGID], times[PEER], note="ours with detection, drives, books and report"
        ),
    }
    if solved > 1.0:  # one system more costs as much as another
        more = (times[SLIDING].median - times[POINTS].median) * min(
            1.0, (FOUR - 1.0) / (solved - 1.0)
        )
        value = 1.0 + more / times[POINTS].median
        said = f"from a step that slides and solves {solved:.0f} systems"
        measured["simulation_points.iterations"] = Measurement(
            value, value * times[POINTS].median, times[POINTS].median, note=said
        )
    if STEP in times:
        measured["simulation_rigid.mujoco"] = compare(times[RIGID], times[STEP])
        measured["simulation_points.mujoco_compiled"] = compare(times[POINTS], times[STEP])
        measured["simulation_points.mujoco_numpy"] = compare(times[ARRAYS], times[STEP])
    return measured
