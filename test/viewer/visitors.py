# SPDX-License-Identifier: Apache-2.0
"""A session that writes down what it is asked, and a page that shows it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

import humanoid_dynamics as hd
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.viewer.bodies import build_bodies
from humanoid_dynamics.viewer.opening import show
from humanoid_dynamics.viewer.page import Page
from humanoid_dynamics.viewer.picture import Painter, Picture
from humanoid_dynamics.viewer.session import Offer, Session


class Diary(Session):
    """A humanoid that stands and writes down what is asked of it."""

    def __init__(self) -> None:
        robot = hd.load_robot("human28")
        self.bodies = build_bodies(robot)
        self.robot, self.painter, self.t = robot, Painter(robot, self.bodies), 0.0
        self.offer = Offer(
            "A humanoid writes down what is asked of it.",
            scenes=("here", "there"),
            rules=("one", "another"),
            frames={"head": pin.SE3(np.eye(3), np.array([0.0, 0.5, 1.7]))},
            connections={"hand": True},
            pushable=True,
            length=4.0,
            motors=robot.actuated,
            strength=(20.0, 900.0),
        )
        self.fallen = False
        self.asked: list[tuple[Any, ...]] = []

    def advance(self, seconds: float) -> None:
        self.t += seconds

    def picture(self) -> Picture:
        q = np.array(self.robot.posture)
        q[0] += 0.05 * np.sin(self.t)
        picture = self.painter.paint(self.t, q, numbers={"height [m]": 1.0 + 0.1 * np.sin(self.t)})
        return replace(
            picture, torques=dict.fromkeys(self.robot.actuated, 10.0 + self.t), fallen=self.fallen
        )

    def limit_pull(self, force: float) -> None:
        self.asked.append(("limit", force))

    def pull(self, body: str, point: Any, force: Any) -> None:
        self.asked.append(("pull", body, np.array(point), np.array(force)))

    def lead(self, frame: str, X_WF: pin.SE3) -> None:
        self.asked.append(("lead", frame, X_WF))

    def switch(self, connection: str, closed: bool) -> None:
        self.asked.append(("switch", connection, closed))

    def choose_rule(self, rule: str) -> None:
        self.asked.append(("rule", rule))

    def choose_scene(self, scene: str) -> None:
        raise HumanoidDynamicsError(f"no scene {scene!r} today")

    def pause(self, paused: bool) -> None:
        self.asked.append(("pause", paused))

    def step(self) -> None:
        self.asked.append(("step",))

    def reset(self) -> None:
        self.asked.append(("reset",))

    def seek(self, t: float) -> None:
        self.asked.append(("seek", t))

    def find(self, what: str) -> list[tuple[Any, ...]]:
        return [entry for entry in self.asked if entry[0] == what]


@contextmanager
def shown(
    session: Session, rate: float = 30.0, waits: bool = False, **options: Any
) -> Iterator[Page]:
    """Show a session on a page of its own, in a thread of its own."""
    page = Page(session, port=18000 + int(time.monotonic() * 1e3) % 20000, **options)
    ended = threading.Event()

    def go() -> None:
        while not ended.is_set():
            show(page, session, rate=rate, seconds=0.2, waits=waits)

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    try:
        yield page
    finally:
        ended.set()
        thread.join(5.0)
        page.close()


def wait_for(condition: Callable[[], Any], seconds: float = 10.0) -> Any:
    """Wait until something is so; return what it is, or what it is not at the end."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        pause.wait(0.05)
    return condition()
