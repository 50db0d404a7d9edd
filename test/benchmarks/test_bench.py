# SPDX-License-Identifier: Apache-2.0
"""The run as a whole: every goal has a row, every answer is compared, what is missing is said."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import bench, command, inverse_dynamics, mujoco_step, snake
from benchmarks.closed_chain_forward import build_constraint_dynamics
from benchmarks.goals import GOALS, Goal
from benchmarks.interleave import Timing
from benchmarks.rows import Measurement, build_row, compare, compare_faster
from benchmarks.stand import build_stand
from humanoid_dynamics.cli.app import run_command
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.errors import (
    HumanoidDynamicsError,
    MissingExtraError,
    UnknownNameError,
    UnsupportedRobotError,
)
from humanoid_dynamics.resolution.inverse import InverseDynamics

ROOT = Path(__file__).parents[2]
BUILT = {
    "inverse_dynamics",
    "inverse_dynamics_limits",
    "closed_chain",
    "closed_chain_forward",
    "snake",
}
KEYS = {
    "name",
    "value",
    "goal",
    "unit",
    "ok",
    "sense",
    "path",
    "against",
    "ours_us",
    "against_us",
    "error",
    "tolerance",
    "note",
}


@pytest.fixture(scope="module")
def stand():
    return build_stand("human28")


@pytest.fixture
def mujoco():
    return pytest.importorskip("mujoco", reason="mujoco is not installed (extra 'bench')")


def build_third_party(name):
    try:
        return build_stand(name)
    except MissingExtraError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
        code = 0
        try:
            run_command(command.bench, "benchmarks", command.EXAMPLES)
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


class TestCommand:
    @pytest.mark.slow
    def test_json_has_one_row_for_every_goal(self, call, monkeypatch):
        monkeypatch.setitem(sys.modules, "numba", None)  # compiling everything takes minutes
        code, out, _ = call("--robot", "human28", "--repeat", "3", "--json")
        told = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
        assert code == 0
        assert told.keys() == {"machine", "robot", "notes", "rows", "times"}
        assert [row["name"] for row in told["rows"]] == [goal.name for goal in GOALS]
        for row in told["rows"]:
            assert row.keys() == KEYS
            assert (row["value"] is None) <= (row["ok"] is None and row["note"] != "")
            assert row["error"] is None or row["error"] <= row["tolerance"], row
        measured = {
            row["name"].partition(".")[0] for row in told["rows"] if row["value"] is not None
        }
        assert measured >= BUILT
        assert all(
            row["ok"] is None
            for row in told["rows"]
            if row["name"].startswith(("inverse_dynamics.", "closed_chain_forward."))
        )
        assert all(
            0.0 < time["median"] <= time["p99"] and time["calls"] == 3 for time in told["times"]
        )
        assert told["machine"]["packages"]["numpy"] == np.__version__

    def test_table(self, call):
        code, out, err = call("--robot", "human28", "--repeat", "3", "--only", "closed_chain")
        assert (code, err) == (0, "")
        assert "ours [us]" in out
        assert all(
            name in out
            for name in (
                "closed_chain.floor",
                "closed_chain.difference",
                "floor_ID",
                "not judged",
                "median [us]",
            )
        )
        assert "snake" not in out

    def test_what_is_measured_on_topics_takes_no_robot(self, call):
        code, out, err = call("--only", "ros", "--robot", "nobody")
        assert (code, err) == (0, "")
        assert "--ros" in out

    @pytest.mark.parametrize(
        ("arguments", "texts"),
        [
            (
                ("--only", "inverse"),
                ("no benchmark named 'inverse'", "inverse_dynamics.pinv", "snake"),
            ),
            (("--repeat", "0"), ("0 calls",)),
            (("--robot", "nobody"), ("no robot named 'nobody'",)),
            (("--robot", "fourbar"), ("no contact surface",)),
            (("--robot", "stewart"), ("no contact surface",)),
        ],
    )
    def test_refusals(self, call, arguments, texts):
        code, out, err = call(*arguments)
        assert (code, out) == (2, "")
        assert all(text in err for text in texts), err


class TestRun:
    def test_robot_that_is_not_installed_gives_way(self, monkeypatch):
        def build(name):
            if name == "talos_reduced":
                raise MissingExtraError("example-robot-data", "robots", "robot 'talos_reduced'")
            return build_stand(name)

        monkeypatch.setattr(bench, "build_stand", build)
        report = bench.run_bench(repeat=2, only="closed_chain.floor")
        assert report.robot == "human28"
        assert "pip install 'humanoid_dynamics[robots]'" in report.notes[0]
        assert [row.ok for row in report.rows] == [None]

    def test_another_robot_that_is_not_installed_is_an_error(self, monkeypatch):
        def build(name):
            raise MissingExtraError("example-robot-data", "robots", f"robot {name!r}")

        monkeypatch.setattr(bench, "build_stand", build)
        with pytest.raises(MissingExtraError):
            bench.run_bench("g1", 2)

    @pytest.mark.parametrize(("threads", "told"), [("1", False), ("4", True), (None, True)])
    def test_several_threads_of_blas_are_told(self, monkeypatch, threads, told):
        for variable in bench.BLAS_VARIABLES:
            monkeypatch.setenv(variable, threads) if threads else monkeypatch.delenv(
                variable, raising=False
            )
        notes = bench.run_bench("human28", 1, "ros").notes
        assert any("OPENBLAS_NUM_THREADS=1" in note for note in notes) == told

    def test_progress_grows_to_the_end(self):
        told = []
        bench.run_bench("human28", 5, "closed_chain", progress=told.append)
        assert len(told) == 5
        assert all(np.diff(told) > 0)
        assert told[-1] == pytest.approx(1.0)

    def test_peer_that_is_not_installed_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "mujoco", None)
        report = bench.run_bench("human28", 2, "simulation_rigid")
        assert "pip install 'humanoid_dynamics[bench]'" in report.notes[0]
        (note,) = [row.note for row in bench.run_bench("human28", 2, "inverse_dynamics.tsid").rows]
        assert note.startswith("tsid is in no --peer-python")

    @pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
    def test_goal_can_be_chosen(self, goal):
        assert bench.select_goals(goal.name) == (goal,)
        assert goal in bench.select_goals(goal.name.partition(".")[0])

    def test_unknown_goal(self):
        with pytest.raises(UnknownNameError, match=r"Did you mean 'snake'"):
            bench.select_goals("snail")

    def test_no_calls(self):
        with pytest.raises(HumanoidDynamicsError, match="0 calls"):
            bench.run_bench(repeat=0)


class TestRows:
    GOAL = Goal("path.other", "path", "other", "<=", 2.0, tolerance=1e-9)
    OURS, OTHER = Timing("ours", 9, 3.0, 4.0), Timing("other", 9, 6.0, 9.0)

    def test_ratios(self):
        assert compare(self.OURS, self.OTHER).value == 0.5
        assert compare_faster(self.OURS, self.OTHER).value == 2.0
        assert {
            (m.ours, m.against)
            for m in (compare(self.OURS, self.OTHER), compare_faster(self.OURS, self.OTHER))
        } == {(3.0, 6.0)}

    @pytest.mark.parametrize(
        ("value", "error", "judged", "ok"),
        [
            (2.0, 1e-10, True, True),
            (2.1, 1e-10, True, False),
            (1.0, 1e-8, True, False),
            (1.0, np.nan, True, False),
            (1.0, None, True, True),
            (2.1, 1e-10, False, None),
            (1.0, 1e-8, False, False),
        ],
    )
    def test_ok_needs_speed_and_the_same_answer(self, value, error, judged, ok):
        assert build_row(self.GOAL, Measurement(value, error=error), judged=judged).ok is ok

    def test_goal_of_no_robot_is_always_judged(self):
        assert (
            build_row(replace(self.GOAL, on_robot=False), Measurement(1.0), judged=False).ok is True
        )

    @pytest.mark.parametrize(
        ("sense", "value", "met"),
        [("<=", 2.0, True), ("<", 2.0, False), (">=", 2.0, True), (">=", 1.9, False)],
    )
    def test_sense(self, sense, value, met):
        assert replace(self.GOAL, sense=sense).is_met(value) is met

    def test_row_without_a_number(self):
        facts = build_row(self.GOAL, None, judged=True, note="why").facts()
        assert (facts["value"], facts["ok"], facts["note"]) == (None, None, "why")

    def test_names_of_goals_are_unique(self):
        assert len({goal.name for goal in GOALS}) == len(GOALS)


class TestAnswers:
    """The comparisons find a wrong answer."""

    def test_motions_keep_the_soles_at_rest(self, stand):
        mechanism = stand.mechanism()
        for number in range(len(stand.motions)):
            stand.use(number)
            mechanism.update(stand.q, stand.v)
            np.testing.assert_allclose(mechanism.J @ stand.v, 0.0, atol=1e-13)
            np.testing.assert_allclose(mechanism.J @ stand.a, -mechanism.gamma, atol=1e-12)
        assert not np.array_equal(stand.motions[0].q, stand.motions[1].q)

    def test_armature_is_zero_and_the_robot_of_the_catalogue_is_not_changed(self, monkeypatch):
        from benchmarks import stand as stands

        loaded = stands.load_robot("human28")
        loaded.model.armature = np.ones(loaded.nv)
        monkeypatch.setattr(stands, "load_robot", lambda name: loaded)
        assert not stands.build_stand("human28").robot.model.armature.any()
        assert loaded.model.armature.all()

    def test_torque_that_is_a_little_wrong(self, stand):
        prepared = InverseDynamics(stand.robot)
        stand.use(3)
        answer = prepared.solve(stand.q, stand.v, stand.a)
        assert inverse_dynamics.measure_motion_error(stand, lambda: answer) < 1e-11
        wrong = SimpleNamespace(
            tau=answer.tau + 1e-7 * np.eye(len(answer.tau))[4], wrenches=answer.wrenches
        )
        assert inverse_dynamics.measure_motion_error(stand, lambda: wrong) == pytest.approx(
            1e-7, rel=1e-4
        )

    def test_pinocchio_holds_the_same_soles(self, stand):
        stand.use(2)
        tau = np.linspace(-1.0, 1.0, len(stand.robot.actuated))
        a = build_constraint_dynamics(stand, tau)()
        np.testing.assert_allclose(
            a, solve_forward(stand.mechanism(), stand.q, stand.v, tau).a, atol=1e-9
        )

    def test_worst_of_all_motions(self, stand):
        assert stand.worst(lambda: float(stand.q[0])) == max(
            motion.q[0] for motion in stand.motions
        )
        assert np.isnan(stand.worst(lambda: np.nan))

    def test_points_are_no_soles(self):
        with pytest.raises(UnsupportedRobotError, match="no whole wrench"):
            build_third_party("bolt")

    def test_snake_takes_fewer_operations_for_every_length(self):
        assert snake.compare_operations() < 1.0

    def test_snake_of_another_mass_is_found(self):
        question = snake._Question(6)
        same = snake.load_robot(snake.build_snake_urdf(question.model), root="fixed")
        other = snake.load_robot(
            snake.build_snake_urdf(snake.SnakeModel.uniform(6, mass=1.001)), root="fixed"
        )
        assert question.measure_energy_error(same) < 1e-12
        assert question.measure_energy_error(other) > 1e-4


class TestMujoco:
    def test_it_is_the_same_robot(self, mujoco, stand):
        model = mujoco_step.build_model(mujoco, stand.robot)
        assert mujoco_step.compare_models(mujoco, model, mujoco.MjData(model), stand.robot) < 1e-12
        heavier = replace(stand.robot, model=stand.robot.model.copy())
        heavier.model.inertias[5].mass += 1e-3
        assert mujoco_step.compare_models(mujoco, model, mujoco.MjData(model), heavier) > 1e-9

    def test_it_stands_on_all_corners(self, mujoco, stand):
        model = mujoco_step.build_model(mujoco, stand.robot)
        data = mujoco.MjData(model)
        mujoco_step._settle(mujoco, model, data, stand.robot)
        force, total = np.zeros(6), 0.0
        for contact in range(data.ncon):
            mujoco.mj_contactForce(model, data, contact, force)
            total += force[0]
        assert data.ncon == 8
        assert total == pytest.approx(stand.robot.mass * 9.81, rel=0.02)
        assert np.abs(data.qvel).max() < 0.2

    def test_every_step_starts_from_the_same_state(self, mujoco, stand):
        contender = mujoco_step.build_step(stand.robot)
        model, data = contender.call.__closure__[0].cell_contents
        ends = []
        for _ in range(3):
            contender.before()
            contender.call()
            ends.append(np.array(data.qpos))
        assert np.ptp(ends, axis=0).max() == 0.0
        assert model.nv == stand.robot.nv

    def test_robot_that_falls(self, mujoco, stand, monkeypatch):
        monkeypatch.setattr(mujoco_step, "SETTLING", 1)
        raised = stand.robot.posture.copy()
        raised[2] += 0.1
        with pytest.raises(UnsupportedRobotError, match="does not come to rest"):
            mujoco_step.build_step(replace(stand.robot, posture=raised))

    def test_robot_that_is_refused(self, mujoco):
        romeo = build_third_party("romeo").robot
        with pytest.raises(UnsupportedRobotError, match="mj_step: MuJoCo refuses it"):
            mujoco_step.build_step(romeo)


@pytest.mark.slow
def test_routes_are_not_slower_than_three_times_what_is_known():
    """A sanity check with much slack, not a goal: the closed chain against its floor, and the snake against its own length."""
    program = [
        sys.executable,
        "-m",
        "benchmarks",
        "--robot",
        "human28",
        "--repeat",
        "300",
        "--json",
    ]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, check=True)
    values = {row["name"]: row["value"] for row in json.loads(done.stdout)["rows"]}
    assert values["closed_chain.floor"] < 3 * 5.0
    assert values["closed_chain_forward.compiled"] < 3 * 3.5
    assert values["snake.growth"] < 3 * 12.0
