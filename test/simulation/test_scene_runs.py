# SPDX-License-Identifier: Apache-2.0
"""Scenes that come with the package: what they must show, and scene files with mistakes."""

import numpy as np
import pytest

from humanoid_dynamics.errors import (
    DescriptionError,
    HumanoidDynamicsError,
    MissingExtraError,
    UnknownNameError,
)
from humanoid_dynamics.simulation.scenes.file import load_scene, read_scene, scene_names
from humanoid_dynamics.simulation.scenes.judge import judge_run
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene

CRATE = {"mass": 2.0, "box": [0.2, 0.2, 0.2], "xyz": [0, 0, 0.1]}
BODY_TO_WORLD = {"a": {"link": "body"}, "b": {"link": "world"}}


def run(name, seconds=None):
    scene = load_scene(name)
    world = build_world(scene)
    return scene, world, run_scene(scene, world, seconds)


@pytest.mark.parametrize("name", scene_names())
def test_every_scene_begins_and_runs(name):
    try:
        _, world, summary = run(name, 0.05)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    assert set(summary.statuses) == {"OK"}
    assert summary.closure < 1e-9
    assert np.isfinite(world.q).all()


def test_pushed_human_stays_on_its_feet():
    scene, world, summary = run("pushed")
    assert world.q[2] == pytest.approx(scene.robot.posture[2], abs=0.01)
    assert np.abs(world.v).max() < 0.02
    assert world.books.work["pushes"] > 0.1
    assert summary.depth < 1e-4
    assert summary.residual < 1e-5
    assert summary.cone < 1e-9


def test_legs_with_closed_loops_stand():
    """Thigh, shank, foot and rod are a loop on each side; ankles without a motor follow their knees."""
    scene, world, summary = run("closed_legs", 0.5)
    assert world.count_freedoms() == 16
    assert not {"legs/left_ankle_pitch", "legs/right_ankle_pitch"} & set(world.actuated)
    assert set(summary.statuses) == {"OK"}
    assert 0.0 < summary.closure < 1e-9
    assert world.ground_force()[2] == pytest.approx(scene.robot.mass * 9.81, rel=0.01)
    ankles = [
        world.robot.coordinates.index(f"legs/{side}_ankle_pitch") for side in ("left", "right")
    ]
    assert np.abs(world.v).max() < 0.1
    assert not world.setup.drive.kp[ankles].any()


@pytest.mark.slow
def test_a_stack_that_is_knocked_over_keeps_all_that_steps_promise():
    scene, world, summary = run("collisions")
    assert not scene.tolerated
    assert set(summary.statuses) == {"OK"}
    assert all(check.passed for check in judge_run(summary, world))


@pytest.mark.slow
def test_falling_human_comes_to_rest_on_the_ground():
    scene, world, summary = run("falling")
    assert world.q[2] < 0.4
    assert np.abs(world.v).max() < 1e-3
    assert summary.depth < 2e-3
    assert world.books.missing < 1e-3 * world.books.start
    assert world.point_forces().sum(axis=0)[2] == pytest.approx(scene.robot.mass * 9.81, rel=1e-3)


def test_crate_slides_and_crate_tips():
    _, world, _ = run("sliding_box")
    assert world.q[0] == pytest.approx(0.5097, abs=1e-4)
    _, world, _ = run("tipping_box")
    assert world.q[2] == pytest.approx(0.15, abs=1e-4)  # it lies on its side


def test_ck14_figure_on_the_swing_lets_go_of_one_hand_and_of_the_other():
    _, world, summary = run("swing")
    assert [phase.mobility for phase in summary.phases] == [22, 25, 28]
    for phase in summary.phases[1:]:
        assert abs(phase.energy_change) < 1e-10
        assert phase.velocity_change == 0.0
    assert abs(world.books.missing) < 1e-3 * abs(world.books.start)
    assert summary.closure < 1e-9


def test_ck14_figure_falls_freely_after_it_has_let_go():
    scene = load_scene("swing")
    world = build_world(scene)
    run_scene(scene, world, 1.6)
    figure = [joint for joint in world.robot.joints if joint.name.startswith("figure/")]
    root = figure[0].index
    data = world.robot.data()

    def velocity():
        import pinocchio as pin

        pin.centerOfMass(world.robot.model, data, world.q, world.v)
        return np.array(data.oMi[root].rotation @ data.vcom[root])

    before = velocity()
    for _ in range(100):
        world.step(1e-3)
    np.testing.assert_allclose((velocity() - before) / 0.1, [0, 0, -9.81], atol=2e-3)


def test_sv14_high_bar_twelve_seventeen_twenty_two():
    _, world, summary = run("highbar")
    assert [phase.mobility for phase in summary.phases] == [12, 17, 22]
    for phase in summary.phases[1:]:
        assert abs(phase.energy_change) < 1e-10
        assert phase.velocity_change == 0.0
    assert abs(world.books.missing) < 1e-3 * abs(world.books.start)
    assert summary.closure < 1e-9


def test_df11_figure_on_ropes_has_thirty_six_freedoms():
    scene, _, summary = run("ropes", 0.5)
    assert scene.robot.nv - 6 + 6 + 6 == 48
    assert summary.phases[0].mobility == 36
    assert summary.closure < 1e-9


@pytest.mark.slow
def test_closure_holds_for_a_minute_of_swinging():
    scene = load_scene("highbar")
    world = build_world(scene)
    worst = 0.0
    for _ in range(60000):
        report = world.step(1e-3)
        worst = max(worst, report.closure)
    assert report.status == "OK"
    assert worst < 1e-9


@pytest.mark.parametrize(
    ("content", "key", "said"),
    [
        ({"figurs": {}}, "figurs", "Did you mean 'figures'"),
        ({"objects": {"a": {**CRATE, "wight": 2}}}, "objects.a.wight", "Known"),
        ({"objects": {"a": {"mass": 1.0}}}, "objects.a", "either a box or a ball"),
        (
            {"objects": {"a": {**CRATE, "mass": "heavy"}}},
            "objects.a.mass",
            "expected a finite number",
        ),
        (
            {"objects": {"a": {**CRATE, "mass": float("nan")}}},
            "objects.a.mass",
            "expected a finite number",
        ),
        (
            {"objects": {"a": {**CRATE, "mass": 1e20}}},
            "objects.a",
            "expected one number up to 1e+12",
        ),
        ({"objects": {"a": CRATE}, "seconds": -1}, "seconds", "expected a finite number"),
        ({"objects": {"a": CRATE}, "dt": 1.0}, "dt", "expected a finite number"),
        (
            {"objects": {"a": CRATE}, "terrain": [{"plain": {}}]},
            "terrain[0].plain",
            "Did you mean 'plane'",
        ),
        (
            {"objects": {"a": CRATE}, "terrain": [{"plane": {"slope": 3.0}}]},
            "terrain[0].plane",
            "slope",
        ),
        (
            {"objects": {"a": CRATE}, "events": [{"at": 1, "cut": "rope"}]},
            "events[0].cut",
            "Known: none",
        ),
        (
            {
                "objects": {"a": CRATE},
                "events": [{"at": 1, "push": {"link": "bodi", "force": [1, 0, 0]}}],
            },
            "events[0].push.link",
            "'body'",
        ),
        (
            {"objects": {"a": CRATE}, "events": [{"push": {"link": "body"}}]},
            "events[0].at",
            "expected a finite number",
        ),
        (
            {"objects": {"a": CRATE}, "connections": {"c": {"kind": "glue"}}},
            "connections.c.kind",
            "Known",
        ),
        ({"objects": {"a": CRATE}, "limits": "yes"}, "limits", "true or false"),
        (
            {"objects": {"a": {**CRATE, "mass": 10**400}}},
            "objects.a.mass",
            "expected a finite number",
        ),
        (
            {"objects": {"a": CRATE}, "connections": {"c": {**BODY_TO_WORLD, "open": "yes"}}},
            "connections.c.open",
            "true or false",
        ),
        (
            {"objects": {"a": CRATE}, "connections": {"c": {**BODY_TO_WORLD, "here": 3}}},
            "connections.c.here",
            "true or false",
        ),
        (
            {
                "objects": {"a": CRATE},
                "connections": {"c": BODY_TO_WORLD},
                "watches": [{"cut": "c", "link": "body", "plate": {"link": "bod"}}],
            },
            "watches[0].plate.link",
            "Did you mean 'body'",
        ),
        ({}, "figures", "at least one"),
        ([], "scene", "expected a table"),
    ],
)
def test_a_scene_with_a_mistake_is_refused_by_its_key(content, key, said):
    with pytest.raises(DescriptionError) as refusal:
        read_scene(content)
    assert refusal.value.key == key
    assert said in str(refusal.value)


def test_connections_that_cannot_close_are_refused():
    far = {
        "kind": "spherical",
        "a": {"link": "hinge_base"},
        "b": {"link": "world", "xyz": [9, 0, 0]},
    }
    far["a"]["link"] = "crank"
    scene = read_scene(
        {"figures": {"f": {"robot": "fourbar", "points": "none"}}, "connections": {"far": far}}
    )
    with pytest.raises(HumanoidDynamicsError, match=r"cannot be closed; row 'far.*' stays open by"):
        build_world(scene)


def test_velocities_too_large_to_compute_with_are_refused():
    crate = {
        "mass": 4,
        "box": [0.3, 0.3, 0.15],
        "xyz": [0, 0, 0.1],
        "velocity": [1e300, 0, 0, 0, 0, 0],
    }
    with pytest.raises(HumanoidDynamicsError, match=r"a velocity of 1e[+]300 at the start"):
        build_world(read_scene({"objects": {"crate": crate}}))


def test_unknown_scene_names_those_that_exist():
    with pytest.raises(UnknownNameError, match="standing"):
        load_scene("standin")


@pytest.mark.parametrize(("at", "when"), [(0.0104, 0.010), (0.0106, 0.011), (0.0110, 0.011)])
def test_an_event_comes_at_the_step_nearest_to_its_time(at, when):
    pin = {
        "kind": "spherical",
        "here": True,
        "a": {"link": "body"},
        "b": {"link": "world", "xyz": [0, 0, 1]},
    }
    ball = {"ball": 0.1, "xyz": [0, 0, 1]}
    scene = read_scene(
        {
            "objects": {"a": ball},
            "connections": {"pin": pin},
            "events": [{"at": at, "cut": "pin"}],
            "seconds": 0.02,
        }
    )
    summary = run_scene(scene, build_world(scene))
    assert [phase.label for phase in summary.phases] == ["start", "cut pin"]
    assert summary.phases[1].t == pytest.approx(when, abs=1e-12)


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_a_watch_finds_its_time_whatever_the_step(dt):
    """A body that slides off a plate falls when its middle is over the edge, 0.1 m on at 1 m/s."""
    slot = {
        "kind": "prismatic",
        "here": True,
        "a": {"link": "body", "rpy": [0, 1.5707963267948966, 0]},
        "b": {"link": "world", "xyz": [0, 0, 1]},
    }
    slot["b"]["rpy"] = slot["a"]["rpy"]
    watch = {
        "cut": "slot",
        "link": "body",
        "plate": {"link": "world", "xyz": [0, 0, 1]},
        "half": [0.1, 0.3],
    }
    ball = {"ball": 0.1, "xyz": [0, 0, 1], "velocity": [1, 0, 0, 0, 0, 0]}
    scene = read_scene(
        {
            "objects": {"a": ball},
            "connections": {"slot": slot},
            "watches": [watch],
            "dt": dt,
            "seconds": 0.15,
        }
    )
    summary = run_scene(scene, build_world(scene))
    assert [phase.label for phase in summary.phases] == ["start", "slot leaves"]
    assert summary.phases[1].t == pytest.approx(0.1, abs=2e-5)


def test_what_a_run_ends_before_is_told(tmp_path):
    text = """objects: {crate: {mass: 2, box: [0.2, 0.2, 0.2], xyz: [0, 0, 0.1]}}
terrain: [{plane: {}}]
seconds: 0.02
events:
  - {at: 0.01, push: {link: body, force: [1, 0, 0], duration: 0.1}}
  - {at: 5, push: {link: body, force: [9, 0, 0], duration: 0.1}}
"""
    (tmp_path / "late.yaml").write_text(text)
    scene = load_scene(tmp_path / "late.yaml")
    assert run_scene(scene, build_world(scene)).missed == ["push body at 5 s"]
    assert run_scene(scene, build_world(scene), 0.005).missed == [
        "push body at 0.01 s",
        "push body at 5 s",
    ]
