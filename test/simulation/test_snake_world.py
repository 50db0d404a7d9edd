# SPDX-License-Identifier: Apache-2.0
"""The snake in the world: rolls as its equations say, drives itself, keeps its books, records its wheels."""

import json
import sys
from time import thread_time

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from humanoid_dynamics.cli import main
from humanoid_dynamics.errors import DescriptionError, UnsupportedRobotError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.description_file import read_description
from humanoid_dynamics.model.state import State
from humanoid_dynamics.papers.snake import (
    PreparedSnake,
    SnakeModel,
    SnakeState,
    build_snake_description,
    build_snake_urdf,
    compute_reference,
    compute_side_forces,
    forward_dynamics,
    to_robot_state,
)
from humanoid_dynamics.papers.snake.robot import find_snake
from humanoid_dynamics.plotting.curves import build_sheet, list_sheets
from humanoid_dynamics.series.files import load_record
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.scenes.file import load_scene, read_scene
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene
from humanoid_dynamics.simulation.scenes.snake_pilot import Driving, SnakePilot
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World

SNAKE = {
    "figures": {
        "snake": {
            "robot": "snake5",
            "points": "none",
            "posture": dict.fromkeys(("joint1", "joint2", "joint3", "joint4"), 0),
        }
    }
}


def draw(n, seed):
    rng = np.random.default_rng([n, seed])
    model = SnakeModel(
        rng.uniform(0.5, 2.0, n), rng.uniform(0.002, 0.02, n), rng.uniform(0.05, 0.2, n)
    )
    return (
        model,
        SnakeState(rng.uniform(-1.0, 1.0, n), 0.5 * rng.normal(size=2)),
        0.1 * rng.normal(size=n - 1),
    )


def put_into_world(model, state):
    description = build_snake_description(model)
    del description["name"]
    robot = load_robot(build_snake_urdf(model), description=read_description(description, "snake"))
    return World(robot, Setup(limits=False), State(*to_robot_state(model, state)))


@pytest.mark.parametrize("n", [3, 6])
def test_the_world_moves_a_snake_as_its_equations_do_and_better_with_smaller_steps(n):
    model, start, torques = draw(n, 1)
    exact = compute_reference(
        model, start, lambda _t, _theta, _u: torques, np.array([0.0, 0.5]), compiled=False
    )
    errors = []
    for dt in (2e-3, 1e-3):
        world = put_into_world(model, start)
        for _ in range(round(0.5 / dt)):
            assert world.step(dt, torques).status == "OK"
        theta, u, position = find_snake(world.robot).read(world.q, world.v, world.robot.data())
        gap = np.concatenate(
            (
                np.abs(np.exp(1j * theta) - np.exp(1j * exact.theta[-1])),
                u - exact.u[-1],
                position - exact.position[-1],
            )
        )
        errors.append(np.abs(gap).max())
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) > 1.7


def test_wheels_of_the_world_carry_the_side_forces_of_the_equations():
    model, start, torques = draw(5, 2)
    world = put_into_world(model, start)
    world.step(1e-4, torques)
    lam = compute_side_forces(
        model, start, torques, forward_dynamics(model, start, torques).u_dot
    ).lam
    assert_allclose(world.lam, lam, atol=2e-3 * np.abs(lam).max())
    J = world.mechanism.constraints
    world.mechanism.kinematics.place(world.q)
    assert np.abs(J.jacobian(world.mechanism.kinematics) @ world.v).max() < 1e-12


def spend(count, act):
    """Return the processor time of an act that is done so often [s]."""
    begin = thread_time()
    for _ in range(count):
        act()
    return (thread_time() - begin) / count


def test_thirty_links_are_driven_with_arrays_in_the_time_of_36_evaluations_of_1000():
    """A tick of the driver and a step of the world: about 1 ms on the machine of docs/performance.md, and no bound of time on others.

    Both by processor time, in turns, the quickest of many short bursts: others may use the machine, but hardly disturb them all.
    """
    long = PreparedSnake(SnakeModel.uniform(1000), compiled=False)
    theta, u, torques = 0.3 * np.sin(np.arange(1000.0)), np.array([0.3, 0.2]), np.zeros(999)
    world = put_into_world(
        SnakeModel.uniform(30), SnakeState(0.3 * np.sin(np.arange(30.0)), np.zeros(2))
    )
    pilot = SnakePilot(world, Driving(heading=0.5))
    bursts = [
        (spend(4, lambda: world.step(1e-3)), spend(40, lambda: long.tick(theta, u, torques)))
        for _ in range(60)
    ]
    step, evaluation = map(min, zip(*bursts, strict=True))
    assert not world.reason
    assert sum(pilot.statuses.values()) == 240
    assert step < 36.0 * evaluation


@pytest.fixture(scope="module")
def drive():
    scene = read_scene(
        SNAKE
        | {"snake": {"heading": -0.3}, "events": [{"at": 3.0, "heading": 0.3}], "limits": False}
    )
    world = build_world(scene)
    recorder = Recorder(world)
    summary = run_scene(scene, world, 7.0)
    return world, recorder, summary


def test_the_head_turns_from_one_heading_to_another(drive):
    world, recorder, summary = drive
    assert summary.statuses == {"OK": 7000}
    snake, data = find_snake(world.robot), world.robot.data()
    states = zip(
        recorder.record().table("q").values[::10],
        recorder.record().table("v").values[::10],
        strict=True,
    )
    head = np.array([snake.read(q, v, data)[0][-1] for q, v in states])
    assert head[0] == pytest.approx(-np.pi / 6)
    assert head[100:300].mean() == pytest.approx(-0.3, abs=0.1)
    assert head[-200:].mean() == pytest.approx(0.3, abs=0.02)
    wanted, aim = recorder.record().table("heading").values[[2990, 7000]].T
    assert_allclose(wanted, [-0.3, 0.3])
    assert_allclose(aim, [-0.3, 0.3], atol=2e-3)


def test_the_scene_of_the_catalogue_starts_straight_where_torques_cannot_push():
    scene = load_scene("snake")
    theta = find_snake(scene.robot).read(scene.state.q, scene.state.v, scene.robot.data())[0]
    assert_allclose(theta, theta[0])
    assert [moment.heading for moment in scene.moments] == [2.0]
    world = build_world(scene)
    for _ in range(1000):
        assert world.step(scene.dt).status == "OK"
    assert np.isfinite(world.v).all()
    assert world.pilot.statuses["SINGULAR"] > 50


def test_the_scene_keeps_its_books_and_its_grip(drive):
    world, recorder, _ = drive
    assert world.books.work["motors"] > 0.2
    assert abs(world.books.missing) < 1e-3 * world.books.work["motors"]
    assert abs(world.books.work["loops"]) < 1e-12  # wheels do no work
    forces, margins = (
        recorder.record().table(name).values for name in ("side_force", "slip_margin")
    )
    assert forces.shape == margins.shape == (7001, 5)
    assert np.isfinite(recorder.record().table("q").values).all()
    assert_allclose(margins, 0.6 * 9.81 - np.abs(forces))
    assert margins.min() > 0.0
    assert margins[1:].min() == pytest.approx(world.pilot.worst_margin)
    assert np.abs(forces).max() == pytest.approx(world.pilot.worst_force)


def test_a_pilot_gives_torques_only_where_a_step_gets_none():
    world = build_world(read_scene(SNAKE | {"snake": {"heading": 1.0}}))
    for _ in range(50):
        world.step(1e-3)
    assert np.abs(world.tau).max() > 0.0
    world.step(1e-3, np.zeros(4))
    assert_allclose(world.tau, 0.0)


def test_a_snake_needs_motors_that_are_on():
    figures = {"snake": {**SNAKE["figures"]["snake"], "passive": "all"}}
    world = build_world(read_scene({"figures": figures, "snake": {"heading": 1.0}}))
    assert world.actuated == ()
    assert world.step(1e-3).status == "OK"
    with pytest.raises(UnsupportedRobotError, match="a robot without wheels"):
        SnakePilot(build_world(read_scene({"objects": {"crate": {"box": [1, 1, 1]}}})), Driving())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (SNAKE | {"snake": {"heding": 1.0}}, "Did you mean 'heading'"),
        (SNAKE | {"snake": {"friction": -1.0}}, "snake.friction"),
        (SNAKE | {"snake": {"period": 0.0}}, "snake.period"),
        (SNAKE | {"events": [{"at": 1.0, "heading": 1.0}]}, "needs a snake that is driven"),
        (
            SNAKE | {"snake": {}, "events": [{"at": 1.0, "heading": "north"}]},
            r"events\[0\].heading",
        ),
        (
            {"figures": {"legs": {"robot": "biped7", "points": "none"}}, "snake": {}},
            "a robot without wheels",
        ),
    ],
)
def test_scene_files_with_mistakes_are_refused(content, said):
    with pytest.raises(DescriptionError, match=said):
        read_scene(content)


def test_the_last_of_several_headings_at_one_time_counts():
    scene = read_scene(
        SNAKE | {"snake": {}, "events": [{"at": 1.0, "heading": 1.0}, {"at": 1.0, "heading": 2.0}]}
    )
    assert [(moment.at, moment.heading, moment.label) for moment in scene.moments] == [
        (1.0, 2.0, "heading 1 rad, heading 2 rad")
    ]


@pytest.fixture
def call(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["humanoid-dynamics", "simulate", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


def test_the_verb_simulates_records_and_tells_about_the_wheels(call, tmp_path):
    code, out, err = call(
        "snake", "--duration", 0.2, "--heading", 1.2, "--record", tmp_path / "run.npz", "--json"
    )
    assert (code, err) == (0, "")
    snake = json.loads(out)["snake"]
    assert snake["heading"] == 1.2
    assert snake["side_force"] > 0.0
    assert sum(snake["statuses"].values()) == 200
    record = load_record(tmp_path / "run.npz")
    assert record.table("side_force").columns == ("wheel1", "wheel2", "wheel3", "wheel4", "wheel5")
    assert record.table("slip_margin").values.shape == (201, 5)
    wheels = build_sheet(record, "wheels").numbers()
    assert wheels["heading"]["wanted"]["final"] == 1.2
    largest = max(
        max(abs(curve["min"]), curve["max"]) for curve in wheels["side force of wheels"].values()
    )
    assert largest == pytest.approx(snake["side_force"])
    assert list_sheets(record) == ("joints", "torques", "energy", "wheels")
    assert "no wheel slips" in call("snake", "--duration", 0.05)[1]


def test_a_heading_that_is_given_holds_to_the_end(call, tmp_path):
    """The scene turns the snake; who names a heading wants that one, and nothing else of the scene to change."""
    turns = {
        "at": 0.02,
        "heading": 2.0,
        "push": {"link": "link1", "force": [1.0, 0.0, 0.0], "duration": 0.01},
    }
    (tmp_path / "turn.yaml").write_text(
        yaml.safe_dump(SNAKE | {"snake": {"heading": 0.5}, "events": [turns], "seconds": 0.05})
    )
    as_told, given = (
        json.loads(call(tmp_path / "turn.yaml", *heading, "--json")[1])
        for heading in ((), ("--heading", 1.2))
    )
    assert (as_told["snake"]["heading"], given["snake"]["heading"]) == (2.0, 1.2)
    assert all(facts["energy"]["work"]["pushes"] != 0.0 for facts in (as_told, given))


def test_side_forces_survive_a_bag(tmp_path):
    pytest.importorskip("rosbags", reason="the extra bags is not installed")
    world = build_world(read_scene(SNAKE | {"snake": {"heading": 1.0}}))
    recorder = Recorder(world)
    for _ in range(20):
        world.step(1e-3)
    recorder.save(tmp_path / "run.mcap")
    ours, back = recorder.record(), load_record(tmp_path / "run.mcap")
    for name in ("side_force", "slip_margin", "heading", "energy"):
        assert back.table(name).columns == ours.table(name).columns
        assert_allclose(back.table(name).values, ours.table(name).values, rtol=0.0, atol=0.0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("standing", "--heading", 1), "has no snake"),
        (("snake", "--heading", "inf"), "finite"),
        (("snake", "--heading", "nan"), "finite"),
    ],
)
def test_headings_that_make_no_sense_are_refused(call, arguments, said):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert said in err
