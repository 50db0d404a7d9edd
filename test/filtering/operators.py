# SPDX-License-Identifier: Apache-2.0
"""Operators of every kind: poses of two hands as a tracker would send them, good and bad."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.poses.answer import TeleoperationFrame
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation

HANDS = ("left_hand", "right_hand")
BEGINS, ENDS, OVER = 0.8, 1.7, 2.7  # s; when the trouble comes, when it goes, when the run ends
OFFSET = 1.7e9  # s; the clock of the operator
HALF_TURN = np.diag([-1.0, -1.0, 1.0])


@dataclass(frozen=True)
class Message:
    """A pose on its way.

    Attributes:
        received: When it comes, by our clock [s].
        frame: For which frame.
        stamp: What it says of its time [s].
        pose: x y z and quaternion x y z w.
    """

    received: float
    frame: str
    stamp: float
    pose: np.ndarray


Path = Callable[[str, float], pin.SE3]
Trouble = Callable[[Message, pin.SE3, pin.SE3, np.random.Generator], Message]


def sway(tele: Teleoperation, reach: float, seed: int) -> Path:
    """Return gentle motions of hands around where they are, of that size [m]."""
    rng = np.random.default_rng(seed)
    start = {name: tele.pose(name) for name in tele.names}
    phases = {name: rng.uniform(0.0, 2.0 * np.pi, 6) for name in tele.names}
    rates = {name: rng.uniform(1.0, 2.5, 6) for name in tele.names}

    def path(name: str, t: float) -> pin.SE3:
        grown = min(t, 1.0)
        wave = grown * np.sin(rates[name] * t + phases[name]) - grown * np.sin(phases[name])
        out = np.array([0.3, 0.25 if name.startswith("left") else -0.25, 0.3]) * reach * grown
        return pin.SE3(
            start[name].rotation @ pin.exp3(0.3 * wave[3:]),
            start[name].translation + 0.35 * reach * wave[:3] + out,
        )

    return path


def send(
    path: Path, *, rate: float, jitter: float, seed: int, duration: float = OVER
) -> list[tuple[Message, pin.SE3, pin.SE3]]:
    """Return what a good tracker sends: messages, the true pose, and the true pose of the other hand."""
    rng = np.random.default_rng(seed)
    sent = []
    for name, other in (HANDS, HANDS[::-1]):
        t = float(rng.uniform(0.0, 1.0 / rate))
        while t < duration:
            X = path(name, t)
            message = Message(
                t + 0.02 + float(rng.uniform(0.0, jitter)), name, OFFSET + t, pin.SE3ToXYZQUAT(X)
            )
            sent.append((message, X, path(other, t)))
            t += 1.0 / rate
    return sent


def change(message: Message, **fields: object) -> Message:
    """Return a message with other contents."""
    return Message(
        **(
            {
                "received": message.received,
                "frame": message.frame,
                "stamp": message.stamp,
                "pose": message.pose,
            }
            | fields
        )
    )  # type: ignore[arg-type]


def _moved(message: Message, by: np.ndarray) -> Message:
    return change(message, pose=message.pose + np.concatenate((by, np.zeros(4))))


TROUBLES: dict[str, tuple[set[str], Trouble]] = {
    "teleport": (
        {"OUTLIER", "APPROACHING", "OUT_OF_REACH"},
        lambda m, X, Y, rng: _moved(m, np.array([1.5, -1.0, 0.8])),
    ),
    "flicker": (
        {"OUTLIER", "TRACKING"},
        lambda m, X, Y, rng: _moved(m, np.array([2.0, 0.0, 0.0])) if rng.random() < 0.3 else m,
    ),
    "flip": (
        {"FLIPPED"},
        lambda m, X, Y, rng: change(
            m, pose=pin.SE3ToXYZQUAT(pin.SE3(X.rotation @ HALF_TURN, X.translation))
        ),
    ),
    "noisy": (
        {"TRACKING", "APPROACHING"},
        lambda m, X, Y, rng: _moved(m, 0.01 * rng.standard_normal(3)),
    ),
    "nan": (
        {"NOT_FINITE"},
        lambda m, X, Y, rng: change(
            m, pose=np.where(rng.random(7) < 0.4, np.nan, m.pose), stamp=np.nan
        ),
    ),
    "infinite": (
        {"NOT_FINITE"},
        lambda m, X, Y, rng: change(m, pose=np.where(np.arange(7) == 2, np.inf, m.pose)),
    ),
    "huge": (
        {"OUTLIER", "APPROACHING", "OUT_OF_REACH"},
        lambda m, X, Y, rng: _moved(m, np.array([1e200, 0.0, 0.0])),
    ),
    "not_unit": (
        {"NOT_UNIT"},
        lambda m, X, Y, rng: change(m, pose=m.pose * np.array([1, 1, 1, 3, 3, 3, 3.0])),
    ),
    "zero": ({"NOT_UNIT"}, lambda m, X, Y, rng: change(m, pose=np.zeros(7))),
    "short": ({"NOT_A_POSE"}, lambda m, X, Y, rng: change(m, pose=m.pose[:5])),
    "swapped": ({"SWAPPED"}, lambda m, X, Y, rng: change(m, pose=pin.SE3ToXYZQUAT(Y))),
    "time_backwards": (
        {"STAMP_IN_PAST"},
        lambda m, X, Y, rng: change(m, stamp=OFFSET - m.stamp + OFFSET),
    ),
    "repeated": ({"REPEATED", "GAP"}, lambda m, X, Y, rng: change(m, stamp=OFFSET + BEGINS)),
    "anything": (
        set(),
        lambda m, X, Y, rng: change(
            m, pose=rng.standard_normal(7) * 10.0 ** rng.uniform(-3.0, 3.0), stamp=rng.normal()
        ),
    ),
}


def spoil(
    sent: list[tuple[Message, pin.SE3, pin.SE3]], kinds: tuple[str, ...], seed: int
) -> list[Message]:
    """Return messages with troubles between ``BEGINS`` and ``ENDS``, in the order they come."""
    rng = np.random.default_rng(seed)
    frozen: dict[str, Message] = {}
    spoiled = []
    for message, X, Y in sent:
        m, bad = message, BEGINS <= message.received < ENDS
        if bad and "silence" in kinds:
            continue
        if bad and "frozen" in kinds:
            m = change(m, pose=frozen.setdefault(m.frame, m).pose)
        for kind in kinds:
            if bad and kind in TROUBLES:
                m = TROUBLES[kind][1](m, X, Y, rng)
        spoiled.append(m)
    return sorted(spoiled, key=lambda m: m.received)


def run(
    tele: Teleoperation, messages: list[Message], duration: float = OVER
) -> list[TeleoperationFrame]:
    """Let an operator lead a robot; return all frames."""
    frames, waiting = [], list(messages)[::-1]
    for tick in range(round(duration / tele.dt)):
        now = tick * tele.dt
        while waiting and waiting[-1].received <= now:
            m = waiting.pop()
            tele.update(m.frame, m.stamp, m.pose, m.received)
        frames.append(tele.step(now))
    return frames
