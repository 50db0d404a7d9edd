# SPDX-License-Identifier: Apache-2.0
"""The commands as a user meets them: what they print, what they refuse, how they end."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.cli import app, demo, describe, main, mobility

ROOT = Path(__file__).parents[2]
ESCAPE = "\x1b"
MASSIVE = '<inertial><mass value="4"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SLIDER = f"""<robot name="slider"><link name="base">{MASSIVE}</link><link name="table">{MASSIVE}</link>
<joint name="lift" type="prismatic"><parent link="base"/><child link="table"/><axis xyz="0 0 1"/>
<limit lower="0" upper="1" effort="10" velocity="1"/></joint></robot>"""


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments, **environment):
        monkeypatch.setattr(sys, "argv", ["humanoid-dynamics", *map(str, arguments)])
        for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def slider(tmp_path):
    path = tmp_path / "slider.urdf"
    path.write_text(SLIDER)
    return path


class TestDescribe:
    @pytest.mark.parametrize(
        "name",
        [
            "human28",
            "human16",
            "biped7",
            "fourbar",
            "stewart",
            "swing",
            "snake5",
            "ropes",
            "highbar",
        ],
    )
    def test_every_kind_of_robot(self, call, name):
        robot = hd.load_robot(name)
        code, out, err = call("describe", name)
        assert (code, err) == (0, "")
        assert (
            f"mass {robot.mass:.3f} kg   nq {robot.nq}   nv {robot.nv}   links {len(robot.links)}"
            in out
        )
        for joint in robot.joints:
            label = joint.child if joint.name == "root_joint" else f"{joint.child}  {joint.name}"
            assert f"── {label}\n" in out
        assert all(surface in out for surface in robot.surfaces)
        for loop in robot.loops:
            assert re.search(rf"{loop.name} +{loop.kind} +{loop.link_a} +{loop.link_b}", out)
        assert out.count("warning: ") == len(robot.warnings)
        assert "nan" not in out

    @pytest.mark.parametrize("name", ["human28", "fourbar", "stewart", "highbar"])
    def test_json(self, call, name):
        robot = hd.load_robot(name)
        code, out, err = call("describe", name, "--json")
        facts = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
        assert (code, err) == (0, "")
        assert (facts["nq"], facts["nv"], facts["actuated"]) == (
            robot.nq,
            robot.nv,
            list(robot.actuated),
        )
        assert facts["mass"] == pytest.approx(robot.mass, rel=1e-12)
        assert facts["surfaces"].keys() == robot.surfaces.keys()
        assert facts["warnings"] == list(robot.warnings)
        assert len(facts["loops"]) == len(robot.loops)

    def test_root(self, call):
        code, out, _ = call("describe", "human28", "--root", "fixed")
        assert code == 0
        assert "root fixed" in out
        assert "nq 28   nv 28" in out

    def test_tree_sees_through_fixed_joints(self, call, tmp_path):
        path = tmp_path / "stack.urdf"
        fixed = (
            '<joint name="glue" type="fixed"><parent link="table"/><child link="plate"/></joint>'
        )
        turn = '<joint name="turn" type="continuous"><parent link="plate"/><child link="disc"/><axis xyz="0 0 1"/></joint>'
        path.write_text(
            SLIDER.replace(
                "</robot>",
                f'<link name="plate"/><link name="disc">{MASSIVE}</link>{fixed}{turn}</robot>',
            )
        )
        assert (
            "world\n└── base\n    └── table  lift\n        └── disc  turn\n"
            in call("describe", path)[1]
        )
        assert (
            "base  fixed\n└── table  lift\n    └── disc  turn\n"
            in call("describe", path, "--root", "fixed")[1]
        )

    def test_config_by_name_and_by_file(self, call, tmp_path):
        bare = tmp_path / "bare.urdf"
        bare.write_text(hd.load_robot("human28").urdf)
        for config in ("human28", ROOT / "config/robots/human28.yaml"):
            facts = json.loads(call("describe", bare, "--config", config, "--json")[1])
            assert facts["surfaces"].keys() == hd.load_robot("human28").surfaces.keys()
        assert call("describe", bare)[0] == 0

    def test_continuous_joint_rests_at_an_angle(self, call):
        robot = hd.load_robot("fourbar")
        cosine, sine = robot.posture[robot.joint("crank_joint").q]
        row = next(
            line
            for line in call("describe", "fourbar")[1].splitlines()
            if line.startswith("crank_joint")
        )
        assert row.split()[-1] == f"{np.arctan2(sine, cosine):.3f}"


class TestDemo:
    def test_default(self, call):
        code, out, err = call("demo")
        assert (code, err) == (0, "")
        assert re.search(r"left_foot +318\.825000 N", out)
        assert re.search(r"right_foot +318\.825000 N", out)
        assert "sum of normal forces 637.650000000 N, weight 637.650000000 N" in out
        assert "certificate  OK: the equation of motion holds and every limit is kept" in out

    def test_json(self, call):
        robot = hd.load_robot("human28")
        code, out, _ = call("demo", "--json", "--rule", "pseudo_inverse")
        told = json.loads(out)
        answer = hd.inverse_dynamics(
            robot, hd.State.at_rest(robot), np.zeros(robot.nv), rule="pseudo_inverse"
        )
        assert code == 0
        assert list(told["torques"]) == list(robot.actuated)
        np.testing.assert_allclose(list(told["torques"].values()), answer.tau, atol=1e-12)
        assert told["certificate"]["status"] == "OK"
        assert told["wrenches"]["left_foot"]["normal_force"] == pytest.approx(318.825)

    @pytest.mark.parametrize("name", ["fourbar", "stewart", "highbar", "ropes"])
    def test_robot_that_stands_on_nothing(self, call, name):
        code, out, err = call("demo", "--robot", name)
        assert (code, err) == (0, "")
        assert "contact forces\n" not in out
        assert "inf" not in out.split("certificate")[1]
        told = json.loads(
            call("demo", "--robot", name, "--json")[1],
            parse_constant=lambda word: pytest.fail(word),
        )
        assert told["certificate"]["normal_margin"] is None

    def test_sliding_joints_are_in_newton(self, call, slider):
        code, out, _ = call("demo", "--robot", slider, "--root", "fixed")
        assert code == 0
        assert re.search(r"lift +10\.000 N +10 N +100%", out)
        assert "certificate  SATURATED" in out
        assert "lift needs 39.24 N, its limit is 10 N" in out
        assert "N·m" not in out.split("torques that hold")[1].split("certificate")[0]


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "texts"),
        [
            (
                ("describe", "humanoid"),
                ("no robot named 'humanoid'", "human16, human28, human40", "fourbar"),
            ),
            (("demo", "--robot", "humanoid"), ("no robot named 'humanoid'",)),
            (("describe", "/nowhere/r.urdf"), ("/nowhere/r.urdf",)),
            (
                ("describe", "human28", "--root", "floating"),
                ("no kind of root named 'floating'", "free_flyer, fixed, planar"),
            ),
            (
                ("describe", "human28", "--config", "humen28"),
                ("humen28", "Did you mean 'human28'?"),
            ),
            (
                ("demo", "--rule", "best"),
                ("no rule named 'best'", "minimum_torque, pseudo_inverse"),
            ),
            (("describe", "."), ("is a folder",)),
        ],
    )
    def test_one_sentence_and_exit_code_2(self, call, arguments, texts):
        code, out, err = call(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("error: ")
        assert len(err.splitlines()) == 1
        assert all(text in err for text in texts), err

    @pytest.mark.parametrize(
        "text", ["", "hello", "<robot", "<robot name='r'/>", "<html><body/></html>"]
    )
    def test_files_that_are_no_robots(self, call, tmp_path, text):
        path = tmp_path / "broken.urdf"
        path.write_text(text)
        code, out, err = call("describe", path)
        assert (code, out) == (2, "")
        assert err.startswith("error: ")
        assert str(path) in err

    @pytest.mark.parametrize(
        "arguments",
        [("describe",), ("--nonsense",), ("describe", "human28", "--nonsense"), ("fly",)],
    )
    def test_wrong_words(self, call, arguments):
        code, out, err = call(*arguments)
        assert (code, out) == (2, "")
        assert "Usage: humanoid-dynamics" in err
        assert "Error" in err


class TestManners:
    @pytest.mark.parametrize("verb", [(), ("describe",), ("demo",), ("mobility",)])
    def test_help_shows_an_example(self, call, verb):
        code, out, _ = call(*verb, "--help")
        assert code == 0
        assert re.search(r"Examples:\s+humanoid-dynamics (demo|describe|mobility)", out)

    def test_examples_of_help_run(self, call):
        examples = re.findall(
            r"humanoid-dynamics (.*)",
            app.EXAMPLES + demo.EXAMPLES + describe.EXAMPLES + mobility.EXAMPLES,
        )
        runnable = [example.split() for example in examples if "my_robot" not in example]
        assert len(runnable) >= 6
        for arguments in runnable:
            assert call(*arguments)[0] == 0

    def test_version(self, call):
        code, out, _ = call("--version")
        assert code == 0
        assert re.fullmatch(r"humanoid-dynamics( \d+\.\d+\.\d+|, run from its sources)\n", out)

    def test_no_escape_codes_in_a_file(self, call):
        for arguments in (("demo",), ("describe", "stewart"), ("--help",)):
            assert ESCAPE not in call(*arguments)[1]

    @pytest.mark.parametrize(
        ("environment", "coloured"),
        [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
    )
    def test_escape_codes_on_a_terminal(self, environment, coloured):
        """On a real pseudo-terminal."""
        mother, daughter = pty.openpty()
        settings = {
            name: value
            for name, value in os.environ.items()
            if name not in {"NO_COLOR", "COLUMNS", "FORCE_COLOR"}
        }
        settings |= {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)} | environment
        with subprocess.Popen(
            [sys.executable, "-m", "humanoid_dynamics", "describe", "fourbar"],
            stdout=daughter,
            env=settings,
        ) as process:
            os.close(daughter)
            said = b""
            while True:
                try:
                    said += os.read(mother, 4096)
                except OSError:  # the other end is closed
                    break
        os.close(mother)
        assert process.returncode == 0
        assert b"crank_joint" in said
        assert (ESCAPE.encode() in said) == coloured

    def test_narrow_terminal_loses_nothing(self, call):
        wide, narrow = call("demo", COLUMNS="200")[1], call("demo", COLUMNS="40")[1]
        assert "…" not in narrow
        # What is folded is put together again by leaving out blanks; only the time differs from run to run.
        for line in wide.split("contact forces")[1].splitlines():
            if line.strip() and not line.strip().startswith("time"):
                assert "".join(line.split()) in "".join(narrow.split()), line
        assert max(map(len, narrow.splitlines())) <= 72

    def test_terminal_without_our_letters(self):
        result = subprocess.run(
            [sys.executable, "-m", "humanoid_dynamics", "demo"],
            env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=False,
        )
        assert (result.returncode, result.stderr) == (0, b"")
        assert b"left_knee" in result.stdout

    @pytest.mark.parametrize(
        "arguments", [("describe", "human40"), ("describe", "human40", "--json")]
    )
    def test_reader_that_goes_away(self, arguments):
        """As with ``| head -1``."""
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "humanoid_dynamics", *arguments]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        ) as process:
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode in {0, 1, 141}


def test_only_the_verb_that_is_called_is_imported():
    """Refusals must come within a second, so describe does not wait for the simulator."""
    program = (
        "import sys; sys.argv = ['humanoid-dynamics', 'describe', 'fourbar', '--json']\n"
        "from humanoid_dynamics.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([m for m in sys.modules if m.startswith(('humanoid_dynamics.simulation', 'numba'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
