# SPDX-License-Identifier: Apache-2.0
"""What all verbs share: help at once, completion by the shell, arguments of xacro, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.cli import main, names
from humanoid_dynamics.cli.app import VERBS, build_app, find_verb
from humanoid_dynamics.errors import SourceError
from humanoid_dynamics.filtering import modes
from humanoid_dynamics.model.reading.source import split_arguments
from humanoid_dynamics.motion import clip_check
from humanoid_dynamics.plotting import curves
from humanoid_dynamics.resolution import rules

ROOT = Path(__file__).parents[2]
RUN = "import sys; from humanoid_dynamics.cli import main\ntry:\n    main()\nfinally:\n    sys.stderr.write(' '.join(sys.modules))"
RUN_ALL = """
import contextlib, io, json, sys
from humanoid_dynamics.cli import main
loaded = {}
for command in json.loads(sys.argv[1]):
    sys.argv = ["humanoid-dynamics", *command]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    loaded[" ".join(command)] = [name for name in sys.modules if "." not in name]
print(json.dumps(loaded))
"""
HEAVY = {"numpy", "scipy", "pinocchio", "viser", "rclpy", "matplotlib", "numba"}
ARM = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm">
  <xacro:arg name="mass" default="1.0"/>
  <xacro:arg name="links" default="none"/>
  <link name="base"><inertial><mass value="$(arg mass)"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


def run_python(program, *arguments, **variables):
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def call(*arguments, **variables):
    """Run the command in a process of its own; its error stream ends with the modules it has loaded."""
    return run_python(RUN, *arguments, **variables)


@pytest.fixture
def call_here(monkeypatch, capsys):
    """Run the command in this process; return exit code and output."""

    def call_here(*arguments):
        monkeypatch.setattr(sys, "argv", ["humanoid-dynamics", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code or 0, capsys.readouterr().out

    return call_here


def test_help_loads_nothing_that_takes_time():
    """In one process, command by command: what the first of them loads is told of all that follow."""
    commands = [
        ("--help",),
        ("--version",),
        ("up", "nobody"),
        *((verb, "--help") for verb in VERBS),
    ]
    done = run_python(RUN_ALL, json.dumps(commands))
    loaded = json.loads(done.stdout)
    assert len(loaded) == len(commands), done.stderr
    assert {
        command: HEAVY & set(names) for command, names in loaded.items() if HEAVY & set(names)
    } == {}


def test_help_names_what_the_library_has():
    assert tuple(rules.RULES) == names.RULES
    assert modes.MODES == names.MODES
    assert tuple(curves.SHEETS) == names.SHEETS
    assert clip_check.CUTOFF == names.CUTOFF


def test_help_tells_every_verb_with_its_summary():
    light, whole = build_app(()), build_app(VERBS)
    first = [
        [(c.callback.__doc__ or "").partition("\n")[0] for c in app.registered_commands]
        for app in (light, whole)
    ]
    assert first[0] == first[1]
    assert all(first[0])


def test_the_shell_completes_verbs_and_options():
    shell = {"_PYTHON__C_COMPLETE": "complete_bash", "_HUMANOID_DYNAMICS_COMPLETE": "complete_bash"}
    verbs = call(COMP_WORDS="humanoid-dynamics de", COMP_CWORD="1", **shell)
    assert verbs.stdout.split() == ["describe", "demo"]
    assert HEAVY & set(verbs.stderr.split()) == set()
    options = call(COMP_WORDS="humanoid-dynamics describe --", COMP_CWORD="2", **shell)
    assert {"--config", "--root", "--json"} <= set(options.stdout.split())


def test_the_verb_is_found_where_it_stands(monkeypatch):
    monkeypatch.delenv("COMP_WORDS", raising=False)
    monkeypatch.delenv("_TYPER_COMPLETE_ARGS", raising=False)
    assert find_verb(["view", "swing"]) == ("view",)
    assert find_verb(["--help"]) == find_verb([]) == find_verb(["vue"]) == ()
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "humanoid-dynamics gait --j")
    assert find_verb([]) == ("gait",)


@pytest.mark.parametrize("verb", VERBS)
def test_every_help_ends_with_examples(verb):
    command = build_app((verb,)).registered_commands[VERBS.index(verb)]
    assert "Examples:\n" in command.epilog
    assert f"humanoid-dynamics {verb}" in command.epilog


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_speaks_json(call_here, verb):
    code, out = call_here(verb, "--help")
    assert code == 0
    assert "--json" in out


def test_what_runs_until_it_is_ended_tells_as_json_how(call_here, tmp_path):
    bag = tmp_path / "run.mcap"
    recorder = json.loads(call_here("record", str(bag), "--json")[1])["commands"]["recorder"]
    assert f"file:='{bag}'" in recorder
    assert not bag.exists()
    bag.touch()
    player = json.loads(call_here("play", str(bag), "/a:=/b", "--json")[1])["commands"][
        "bag_player"
    ]
    assert "/a:=/b" in player
    pytest.importorskip("viser", reason="viser is not installed")
    page = json.loads(
        call(
            "view",
            "sliding_box",
            "--port",
            "18493",
            "--host",
            "0.0.0.0",
            "--duration",
            "0.1",
            "--json",
        ).stdout
    )
    assert page["address"].startswith("http://")
    assert len(page["token"]) >= 16
    nodes = json.loads(call_here("up", "demo", "--origin", "https://robot.example", "--json")[1])[
        "commands"
    ]
    assert 'origins:=["https://robot.example"]' in nodes["viewer"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("vue",),
        ("describe", "nobody"),
        ("view", "nothing"),
        ("view", "--port", "0"),
        ("up", "demo", "robot"),
        ("view", "--token", "short"),
        ("view", "--origin", "*"),
        ("up", "robot", "--origin", "http://a"),
        ("up", "demo", "--origin", "null"),
    ],
)
def test_what_is_refused_ends_with_two(call_here, arguments):
    assert call_here(*arguments)[0] == 2


def test_arguments_of_xacro_follow_the_path(tmp_path):
    path = tmp_path / "my arm.urdf.xacro"
    path.write_text(ARM, encoding="utf-8")
    assert hd.load_robot(path).mass == pytest.approx(1.0)
    assert hd.load_robot(f"{path} mass:=2.5 links:=all").mass == pytest.approx(2.5)
    assert hd.load_robot(f"{path} mass:=2.5", xacro_arguments={"mass": "4"}).mass == pytest.approx(
        4.0
    )


def test_arguments_are_for_xacro_alone(tmp_path):
    with pytest.raises(SourceError, match=r"no \.xacro file"):
        hd.load_robot("human28 mass:=2")


def test_words_are_taken_from_the_end():
    assert split_arguments("a b.xacro x:=1 y:=") == ("a b.xacro", {"x": "1", "y": ""})
    assert split_arguments("a:=b c.xacro") == ("a:=b c.xacro", {})
    assert split_arguments("human28") == ("human28", {})
