# SPDX-License-Identifier: Apache-2.0
"""Peers that do not live beside us: timed in another interpreter, in turn with our own calls."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np

from benchmarks.interleave import Contender
from benchmarks.mujoco_step import bare_urdf
from benchmarks.stand import Stand
from humanoid_dynamics.errors import HumanoidDynamicsError

AWAY = ("tsid", "placo")
WORKER = Path(__file__).with_name("peer_worker.py")
PATIENCE = 5.0  # s for a peer to end


@dataclass(frozen=True, eq=False)
class Peers:
    """Peers that answered.

    Attributes:
        contenders: One for each; a call asks for a tick and returns how long that took there.
        versions: Their versions.
        problems: Why others did not, said first.
    """

    contenders: Mapping[str, Contender] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def open_peers(pythons: Sequence[str], stand: Stand | None) -> Iterator[Peers]:
    """Start every peer that is installed for some interpreter, each in a process of its own, and end them afterwards.

    A tick there is more than one of ours: it also chooses the accelerations, by tasks for centre of mass and posture.

    Args:
        pythons: Paths of interpreters.
        stand: The robot; no peer where None.

    Yields:
        The peers.

    Raises:
        HumanoidDynamicsError: If an interpreter does not start.
    """
    contenders: dict[str, Contender] = {}
    versions: dict[str, str] = {}
    problems: dict[str, str] = {}
    with ExitStack() as stack:
        for python in pythons if stand is not None else ():
            for peer in AWAY:
                if stand is None or peer in contenders:
                    continue
                process = stack.enter_context(_process(python))
                told = _ask(process, json.dumps(_order(peer, stand)))
                answer = json.loads(told) if told else {"problem": _tell_end(process)}
                if "version" in answer:
                    contenders[peer], versions[peer] = _contender(peer, process), answer["version"]
                else:
                    problems.setdefault(peer, answer["problem"])
        yield Peers(
            contenders,
            versions,
            {peer: why for peer, why in problems.items() if peer not in contenders},
        )


@contextmanager
def _process(python: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            [python, str(WORKER)], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
    except OSError as cause:
        raise HumanoidDynamicsError(
            f"--peer-python: received {python!r}, expected the path of a Python interpreter: {cause}"
        ) from cause
    with process:
        try:
            yield process
        finally:
            if process.stdin is not None and not process.stdin.closed:
                process.stdin.close()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def _ask(process: subprocess.Popen[str], line: str) -> str:
    """Send a line and return the answer; nothing where the other side has ended."""
    if process.stdin is None or process.stdout is None:
        return ""
    try:
        process.stdin.write(line + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return ""
    return process.stdout.readline()


def _tell_end(process: subprocess.Popen[str]) -> str:
    """Say how a process ended that never answered: libraries that were built against others end it where they meet."""
    try:
        code = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return "says nothing"
    how = signal.Signals(-code).name if -code in set(signal.Signals) else f"exit code {code}"
    return f"ended with {how} before its first word; it and its Pinocchio may have been built against different libraries"


def _contender(peer: str, process: subprocess.Popen[str]) -> Contender:
    numbers = count()

    def tick() -> int:
        told = _ask(process, str(next(numbers)))
        if not told:
            raise HumanoidDynamicsError(
                f"{peer} ended in the middle of the run, with exit code {process.poll()}"
            )
        return int(told)

    return Contender(peer, tick, tells=True)


def _order(peer: str, stand: Stand) -> dict[str, object]:
    robot, soles = stand.robot, []
    for name in robot.stance:
        surface = robot.surface(name)
        length, width = np.ptp(surface.vertices[:, :2], axis=0).tolist()
        soles.append(
            {"link": surface.link, "length": length, "width": width, "friction": surface.friction}
        )
    return {
        "peer": peer,
        "urdf": bare_urdf(robot.urdf),
        "joints": [joint.name for joint in robot.joints[1:]],
        "soles": soles,
        "motions": [(motion.q.tolist(), motion.v.tolist()) for motion in stand.motions],
    }
