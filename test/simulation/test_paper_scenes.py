# SPDX-License-Identifier: Apache-2.0
"""Scenes of the papers with their numbers: grips, breaking swing, gait R1 by every rule, closed-loop legs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from humanoid_dynamics.errors import DescriptionError
from humanoid_dynamics.papers.biped.schedule import STEP_RULES
from humanoid_dynamics.simulation.scenes.file import load_scene, read_scene
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene
from humanoid_dynamics.simulation.scenes.watch import measure_watch

DIGIT = Path(__file__).resolve().parents[3] / "shared" / "data" / "robots" / "digit_like_2legs.urdf"


def run(name, seconds=None, **parameters):
    scene = load_scene(name, {key: str(value) for key, value in parameters.items()})
    world = build_world(scene)
    return scene, world, run_scene(scene, world, seconds)


@pytest.mark.parametrize(("release", "regrasp"), [(0.0, 0.05), (0.137, 0.2), (0.25, 0.3)])
def test_sv14_a_hand_lets_go_and_takes_hold_at_any_time(release, regrasp):
    _, world, summary = run("highbar_regrasp", regrasp + 0.05, release=release, regrasp=regrasp)
    _, cut, grasp = summary.phases
    assert [phase.mobility for phase in summary.phases] == [12, 17, 12]
    assert abs(cut.energy_change) < 1e-10
    assert cut.velocity_change == 0.0
    assert grasp.energy_change < 0.0
    assert summary.closure < 1e-9
    assert set(summary.statuses) == {"OK"}
    assert abs(world.books.missing) < 1e-3 * abs(world.books.start)


def test_sv14_regrasp_loses_what_the_formula_says():
    scene = load_scene("highbar_regrasp", {"release": "0.1", "regrasp": "0.2"})
    world = build_world(scene)
    lost = []
    apply = world.apply

    def watched(events):
        change = apply(events)
        if change.impact is not None:
            lost.append(change.impact.energy_change)
        return change

    world.apply = watched
    summary = run_scene(scene, world, 0.25)
    assert summary.phases[2].energy_change == pytest.approx(lost[0], abs=1e-9)


def test_sv14_hands_as_far_apart_as_shoulders_are_singular_and_stay_symmetric():
    _, world, summary = run("highbar_grip", 0.3)
    assert summary.phases[0].mobility == 13
    assert set(summary.statuses) == {"OK"}
    assert summary.closure < 1e-9
    assert np.isfinite(world.lam).all()
    sides = [
        [world.q[world.robot.joint(f"figure/{side}_elbow").q.start] for side in ("left", "right")]
    ]
    assert sides[0][0] == pytest.approx(sides[0][1], abs=1e-8)
    assert world.q[world.robot.joint("figure/root_joint").q.start + 1] == pytest.approx(
        0.0, abs=1e-8
    )


def test_sv_breaking_swing_breaks_where_a_thigh_leaves_the_plate():
    scene = load_scene("breaking_swing")
    world = build_world(scene)
    seen = []
    apply = world.apply

    def watched(events):
        seen.append(
            (
                world.t,
                max(
                    measure_watch(world, watch)
                    for watch in scene.watches
                    if watch.cut == events[0].name
                ),
            )
        )
        return apply(events)

    world.apply = watched
    summary = run_scene(scene, world, 0.45)
    assert [phase.mobility for phase in summary.phases] == [7, 12, 17]
    for (when, outside), phase in zip(seen, summary.phases[1:], strict=True):
        assert phase.t == when
        assert 0.0 < outside < 1e-4  # a thigh goes at most 10 m/s: less than 0.1 ms beyond the edge
        assert abs(phase.energy_change) < 1e-10
        assert phase.velocity_change == 0.0


def test_sv_breaking_swing_breaks_at_the_right_times_and_keeps_its_energy():
    """The slots open when they do at any step, to 0.1 ms, and not only where the thighs are by then."""
    scene = load_scene("breaking_swing")
    world = build_world(scene)
    summary = run_scene(scene, world)
    assert set(summary.statuses) == {"OK"}
    assert abs(world.books.missing) < 1e-6 * abs(world.books.start)
    fine = replace(scene, dt=2.5e-4)
    finer = run_scene(fine, build_world(fine), 0.45)
    assert [phase.t for phase in summary.phases] == pytest.approx(
        [phase.t for phase in finer.phases], abs=1e-4
    )


MANY = [
    rule if rule == "minimum_torque" else pytest.param(rule, marks=pytest.mark.slow)
    for rule in STEP_RULES
]


@pytest.mark.parametrize("rule", MANY)
def test_biped_takes_the_step_of_the_gait_by_every_rule(rule):
    scene, world, summary = run("biped_step", 1.5, rule=rule)
    assert set(summary.statuses) == {"OK"}
    assert scene.driver.error(world.t, world.q) < 0.03
    assert world.q[0] == pytest.approx(0.277, abs=0.03)  # where the hip of the gait is by then
    assert abs(summary.depth) < 1e-3


def test_closed_loop_legs_stand_from_a_path():
    if not DIGIT.is_file():
        pytest.skip(f"{DIGIT.name} is not here")
    figure = {"robot": str(DIGIT), "effort": 200, "drive": {"kp": 2000, "kd": 40}}
    scene = read_scene({"figures": {"legs": figure}, "terrain": [{"plane": {}}], "seconds": 0.3})
    world = build_world(scene)
    summary = run_scene(scene, world)
    assert set(summary.statuses) == {"OK"}
    assert summary.closure < 1e-9
    assert world.point_forces().sum(axis=0)[2] == pytest.approx(scene.robot.mass * 9.81, rel=1e-2)
    assert np.abs(world.v).max() < 0.1


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"rle": "x"}, "Did you mean 'rule'"),
        ({"rule": "fastest"}, "gait.rule"),
        ({"rule": "[1"}, "parameters.rule"),
    ],
)
def test_parameters_with_mistakes(parameters, said):
    with pytest.raises(DescriptionError, match=said.replace(".", r"\.").replace("[", r"\[")):
        load_scene("biped_step", parameters)


def test_a_gait_needs_its_biped():
    with pytest.raises(DescriptionError, match="planar biped"):
        read_scene({"figures": {"human": {"robot": "human28"}}, "gait": {}})
