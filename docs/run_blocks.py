# SPDX-License-Identifier: Apache-2.0
"""Run every command that the pages tell a reader to type, in a folder that holds the files it names.

``python docs/run_blocks.py`` runs them all and ends with status 1 where one fails; ``--only PAGE`` takes one page.  What cannot be run
as it stands is listed in ``CHANGED`` and ``LEFT_OUT``, each with its reason.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np

import humanoid_dynamics as hd
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.csv_file import write_csv
from humanoid_dynamics.motion.formats.mapping import build_recording

PROJECT = Path(__file__).resolve().parents[1]
PAGES = (
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
    *sorted((PROJECT / "docs").glob("*.md")),
)
INLINE = re.compile(
    r"`(humanoid-dynamics [a-z]+ [^`<\[A-Z]*)`"
)  # in a sentence or a table, with nothing left to fill in
BLOCK = re.compile(r"^ *```(?:sh|bash|console)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
PATIENCE = 300.0  # s

# (what a command begins with, how it runs here instead, why).
CHANGED = (
    (
        r"humanoid-dynamics view(.*)",
        r"humanoid-dynamics view\1 --port 18471 --duration 1",
        "would run until Ctrl-C",
    ),
    (
        r"humanoid-dynamics up (.*) --duration \d+(.*)",
        r"humanoid-dynamics up \1 --duration 1 --headless\2",
        "takes that long",
    ),
    (
        r"humanoid-dynamics up ((?!.*--(?:json|seconds)).*)",
        r"humanoid-dynamics up \1 --duration 1 --headless",
        "would run until Ctrl-C",
    ),
    (
        r"humanoid-dynamics record run.mcap",
        "humanoid-dynamics record recorded.mcap",
        "run.mcap is read again",
    ),
    (
        r"(humanoid-dynamics up demo .*)record:=run.mcap(.*)",
        r"\1record:=demo.mcap\2",
        "run.mcap is read again",
    ),
    (
        r"humanoid-dynamics record run --all (.*)",
        r"humanoid-dynamics record everything --all \1",
        "run is there already",
    ),
    (
        r"humanoid-dynamics record (.*?)( --duration \d+)?",
        r"humanoid-dynamics record \1 --duration 1",
        "would run until Ctrl-C",
    ),
    (r"(humanoid-dynamics play .*?)(?: --topic \S+)+(.*)", r"\1\2", "needs a bag with references"),
    (
        r"humanoid-dynamics play (.*)--loop(.*)",
        r"humanoid-dynamics play \1\2",
        "would run until Ctrl-C",
    ),
    (
        r"humanoid-dynamics experiment (.*)",
        r"humanoid-dynamics experiment \1 --help",
        "takes minutes; its own tests run it",
    ),
    (
        r"humanoid-dynamics filter human28 (clips/.*)",
        r"humanoid-dynamics filter g1 \1",
        "the clips here are of another robot",
    ),
    (
        r"humanoid-dynamics filter human28 walk.bvh(.*)",
        r"humanoid-dynamics filter g1 walk.npz\1",
        "needs a recorded person",
    ),
    (r"(humanoid-dynamics filter .*) /shared/(.*)", r"\1 shared_\2", "a folder of a cluster"),
    (r"(humanoid-dynamics filter .*)--dask \S+(.*)", r"\1\2", "needs a cluster"),
    (
        r"(humanoid-dynamics inverse .*?)(?: --remap \S+)+(.*)",
        r"\1\2",
        "needs a bag with topics of other names",
    ),
    (
        r"snake_driver (--ros-args.*)",
        r"timeout --signal INT --preserve-status 10 snake_driver \1",
        "would run until Ctrl-C",
    ),
    (r"make (demo|test|bench)(.*)", r"make -n \1\2", "its own tests run it"),
)

# (what a command begins with, why it is not run).
LEFT_OUT = (
    (r"ros2 ", "needs ROS 2 with its command line installed"),
    (
        r"rosdep |colcon |python3 -m pip |source |\. install",
        "changes the system, and needs ROS 2 installed",
    ),
    (r"dask ", "starts a cluster"),
    (r"export ROS_SECURITY", "the line after it needs ROS 2 installed"),
)


# What has to be there before the pages begin, made by the commands themselves.
PREPARE = (
    "humanoid-dynamics gait g1 --steps 1 --out walk.npz",
    "humanoid-dynamics gait g1 --steps 1 --out kick.csv",
    "humanoid-dynamics gait g1 --steps 1 --slope 0.087 --out uphill.npz",
    "mkdir clips more && cp walk.npz clips/first.npz && cp kick.csv more/second.csv",
    "cp kick.csv dance.csv",
    "humanoid-dynamics gait human28 --steps 1 --out my_motion.csv",
    "humanoid-dynamics simulate g1_drop --duration 0.3 --record run.mcap",
)
LOOPS = "loops:\n  grip: {kind: spherical, a: {link: left_hand}, b: {link: right_hand}}\n"


@dataclass(frozen=True)
class Command:
    """A command of a page.

    Attributes:
        page: Name of the page.
        line: As the page has it.
        runs: As it is run; empty where it is not.
        reason: Why it is changed or left out; empty where it runs as it stands.
    """

    page: str
    line: str
    runs: str
    reason: str


def read_commands(page: Path) -> Iterator[Command]:
    """Yield the commands of a page.

    Args:
        page: The page.

    Yields:
        The commands, in order.
    """
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            typed = " ".join(shlex.split(line, comments=True)) and re.sub(
                r"\s+# .*$", "", line.strip()
            )
            if typed:
                yield change(page.name, typed)
    for typed in INLINE.findall(BLOCK.sub("", text)):
        yield change(page.name, typed)


def change(page: str, line: str) -> Command:
    """Return a command as it is run here.

    Args:
        page: Name of the page.
        line: The command.
    """
    for pattern, reason in LEFT_OUT:
        if re.match(pattern, line):
            return Command(page, line, "", reason)
    runs, reasons = line, []
    for pattern, instead, reason in CHANGED:
        if re.fullmatch(pattern, runs):
            runs = re.sub(f"^{pattern}$", instead, runs)
            reasons.append(reason)
    return Command(page, line, runs, "; ".join(reasons))


def build_folder(folder: Path) -> None:
    """Write the files that the pages name.

    Args:
        folder: Where to.
    """
    models, configs = PROJECT / "urdf", PROJECT / "config" / "robots"
    urdf, description = (
        (place / f"human28.{end}").read_text(encoding="utf-8")
        for place, end in ((models, "urdf"), (configs, "yaml"))
    )
    (folder / "my_robot.urdf").write_text(urdf, encoding="utf-8")
    (folder / "my_robot.yaml").write_text(
        re.sub(r"^urdf: .*\n", "", description, flags=re.MULTILINE), encoding="utf-8"
    )
    header = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="my_robot"><xacro:arg name="hands" default="true"/>'
    (folder / "my_robot.urdf.xacro").write_text(
        re.sub(r"<robot[^>]*>", header, urdf, count=1), encoding="utf-8"
    )
    (folder / "robot.yaml").write_text(LOOPS, encoding="utf-8")
    _write_measured(folder)
    _write_poses(folder)
    for command in PREPARE:
        done = execute(command, folder)
        if done.returncode:
            sys.exit(f"{command}\n{done.stderr}")
    with np.load(folder / "walk.npz") as walk:
        kept = {name: walk[name] for name in ("times", "base_pos", "base_quat_xyzw")}
        np.savez(
            folder / "23_joints.npz",
            **kept,
            joint_pos=walk["joint_pos"][:, :23],
            joint_names=walk["joint_names"][:23],
        )


def execute(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command.

    Args:
        command: The command, for a shell.
        folder: Where.

    Returns:
        What came of it.
    """
    program = f"{shlex.quote(sys.executable)} -c 'from humanoid_dynamics.cli import main; main()'"
    node = f"{shlex.quote(sys.executable)} -m humanoid_dynamics.nodes.programs snake_driver"
    line = re.sub(
        r"^(timeout .*)?\bsnake_driver\b",
        lambda found: f"{found[1] or ''}{node}",
        re.sub(r"^humanoid-dynamics\b", lambda _: program, command),
    )
    path = os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH"))))
    domain = os.environ.get("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "ROS_DOMAIN_ID": domain,
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }
    where = PROJECT if command.startswith("make") else folder
    try:
        return subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(line, 124, "", f"did not end within {PATIENCE:g} s")


def _write_measured(folder: Path) -> None:
    """Write a walk on force plates of a figure whose feet are called as in OpenSim."""
    figure = (PROJECT / "urdf" / "legs12.urdf").read_text(encoding="utf-8")
    for side in ("left", "right"):
        figure = figure.replace(f'"{side}_foot"', f'"calcn_{side[0]}"')
    (folder / "human.urdf").write_text(figure, encoding="utf-8")
    robot, times = hd.load_robot(str(folder / "human.urdf")), np.arange(50) / 100.0
    still = np.zeros((50, robot.nv))
    write_csv(
        build_recording(Clip(robot, times, np.tile(robot.posture, (50, 1)), still, still)),
        folder / "m_q.csv",
    )
    for part in "qva":
        (folder / f"m_{part}.csv").rename(folder / f"{part}.csv")
    names = [f"{side}_{part}{axis}" for side in "LR" for part in "FPM" for axis in "xyz"]
    rows = np.column_stack(
        (times, np.tile([0.0, 0.0, 200.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] * 2, (50, 1)))
    )
    (folder / "grf.csv").write_text(
        "\n".join([",".join(["time", *names]), *(",".join(map(str, row)) for row in rows)]),
        encoding="utf-8",
    )


def _write_poses(folder: Path) -> None:
    """Write where hands of an operator were."""
    t = np.arange(0.0, 1.0, 0.01)
    place = np.column_stack((0.1 * np.sin(2.0 * t), 0.0 * t, 0.1 - 0.1 * np.cos(2.0 * t)))
    turn = np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
    np.savez(folder / "hand.npz", times=t, hand_pos=place, hand_quat_xyzw=turn)
    np.savez(
        folder / "both.npz",
        times=t,
        left_pos=place,
        left_quat_xyzw=turn,
        right_pos=place,
        right_quat_xyzw=turn,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run commands and tell what came of each.

    Args:
        arguments: Of the command line.

    Returns:
        Exit code: 1 where one failed.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", metavar="PAGE", action="append", help="take this page alone, such as world.md"
    )
    options = parser.parse_args(arguments)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        build_folder(Path(folder))
        for page in (page for page in PAGES if not options.only or page.name in options.only):
            for command in read_commands(page):
                began, done = (
                    monotonic(),
                    execute(command.runs, Path(folder)) if command.runs else None,
                )
                word = "left out" if done is None else "FAILED" if done.returncode else "ok"
                failed += word == "FAILED"
                why = f"  ({command.reason})" if command.reason else ""
                told = (
                    f"\n{done.stdout[-500:]}{done.stderr[-2000:]}"
                    if done is not None and word == "FAILED"
                    else ""
                )
                sys.stdout.write(
                    f"{word:8} {monotonic() - began:5.1f} s  {command.page}: {command.line}{why}{told}\n"
                )
                sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
