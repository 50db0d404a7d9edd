# SPDX-License-Identifier: Apache-2.0
"""How a node of ours runs and ends: callbacks in a thread of their own, a loop at an exact rate, one clean way out.

The executor is rclpy's ``EventsExecutor`` where it exists: it is the fastest one and the only one that keeps up at 1 kHz.  It is always
given a time-out, because in some builds waiting without one never returns.  Rates come from an absolute clock and not from rclpy
timers, which drop the ticks they miss.

SIGINT and SIGTERM are blocked and taken by the loop while it waits for its next tick, so nothing is ever interrupted half way, and a
second one, which a launch file sends within milliseconds of the first, cannot break the way out.  While a node starts or is configured,
which may compile for long, a signal ends the process at once: there is nothing to put in order yet.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, NoReturn, Protocol, TypeVar

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.nodes.adapter import AdapterNode
from humanoid_dynamics.nodes.polling import Poller
from humanoid_dynamics.nodes.programs import REFUSED, hold_signals
from humanoid_dynamics.program import end_at_once, interruptible, tell_ready, wait_for_end


class Ending(Protocol):
    """A node whose work comes to an end by itself."""

    def tick(self) -> None:
        """Do what is due."""

    def is_over(self) -> bool:
        """Return whether nothing is left to do."""

    def release(self) -> None:
        """Let go of what it holds."""


AnyNode = TypeVar("AnyNode", bound=Node)
Wait = Callable[
    [float], bool
]  # until a time on the monotonic clock [s]; whether a signal to end came
FOREVER = 1e5  # s; see above
PATIENCE = 1.0  # s; how long the way out waits for the callback thread
MADE_UP = 0.01  # s; ticks that are no later than this, or than a period, are made up for


def run(make_node: Callable[[], AnyNode], loop: Callable[[AnyNode, threading.Event], None]) -> None:
    """Run a node until SIGINT or SIGTERM comes, then end the process: 0 after a signal, 1 after a failure, 2 where it cannot start.

    Args:
        make_node: Makes the node, once ROS is initialised.
        loop: Runs in this thread until its event is set; callbacks run in another.
    """
    hold_signals()
    try:
        with interruptible():
            rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as refusal:  # arguments or a parameter file that ROS cannot read
        _refuse(refusal)
    try:
        with interruptible():
            node = make_node()
            if isinstance(node, AdapterNode):
                node.start()
        tell_ready()
        gc.collect()
        gc.freeze()  # what is there now stays: the collector need not look at it again and again
        _run_until_stopped(node, loop)
    except (HumanoidDynamicsError, ParameterException) as refusal:
        _refuse(refusal)
    finally:
        rclpy.try_shutdown()


def keep_rate(
    rate: float | Callable[[], float],
    stop: threading.Event,
    tick: Callable[[], None],
    wait: Wait | None = None,
) -> None:
    """Call a function at an exact rate until the event is set or a signal to end comes.

    Ticks that are late by ``MADE_UP`` or less follow each other at once until none is; after a longer pause none of those is made up for.

    Args:
        rate: Calls per second [Hz]; a function where it changes.
        stop: Ends the loop.
        tick: The function.
        wait: How to wait; asleep where None.
    """
    wait = wait or sleep_until
    due = monotonic()
    while not stop.is_set() and rclpy.ok():
        period = 1.0 / (rate() if callable(rate) else rate)
        due, now = due + period, monotonic()
        if now - due > max(MADE_UP, period):
            due = now
        if wait(due) or stop.is_set() or not rclpy.ok():
            return
        tick()


def sleep_until(due: float) -> bool:
    """Sleep, and return whether a signal to end came.

    Args:
        due: Until when, on the monotonic clock [s].
    """
    return wait_for_end(due - monotonic())


def keep_rate_until_over(rate: float, stop: threading.Event, node: Ending) -> None:
    """Let a node work at an exact rate until its work is over, the event is set or a signal to end comes; then it lets go of what it holds.

    Args:
        rate: Ticks per second [Hz].
        stop: Ends the loop.
        node: The node.
    """

    def tick() -> None:
        node.tick()
        if node.is_over():
            stop.set()

    try:
        keep_rate(rate, stop, tick)
    finally:
        node.release()


def _run_until_stopped(node: AnyNode, loop: Callable[[AnyNode, threading.Event], None]) -> None:
    stop = threading.Event()
    if isinstance(node, AdapterNode) and getattr(node.config, "busy_wait", False):
        _run_busily(node, loop, stop)
        return
    failures: list[BaseException] = []
    executor = make_executor()
    executor.add_node(node)
    spinner = threading.Thread(target=_spin, args=(executor, stop, failures), daemon=True)
    spinner.start()
    try:
        loop(node, stop)
    finally:
        if isinstance(node, AdapterNode):
            node.silence()
        rclpy.try_shutdown()
        spinner.join(PATIENCE)
        if spinner.is_alive() and sys.exc_info()[0] is None:  # a callback compiles, or hangs
            end_at_once()
    if failures:
        raise failures[0]


def _run_busily(
    node: Any, loop: Callable[[Any, threading.Event], None], stop: threading.Event
) -> None:
    """Run the loop of a node, and its callbacks while the loop waits."""
    poller = Poller(node)
    node.wait = poller.wait
    try:
        loop(node, stop)
    finally:
        node.silence()
        poller.close()


def _refuse(reason: Exception) -> NoReturn:
    get_logger("humanoid_dynamics").fatal(f"cannot start: {' '.join(str(reason).split())}")
    sys.exit(REFUSED)


def make_executor() -> SingleThreadedExecutor:
    """Return the executor that suits 1 kHz, or the plain one where a distribution lacks it."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def _spin(
    executor: SingleThreadedExecutor, stop: threading.Event, failures: list[BaseException]
) -> None:
    try:
        executor.spin_until_future_complete(Future(), timeout_sec=FOREVER)
    except ExternalShutdownException:
        pass
    except BaseException as failure:  # noqa: BLE001 - raised again in the main thread, which ends the process
        if (
            not stop.is_set() and rclpy.ok()
        ):  # on the way out a callback may find nothing left to publish on
            failures.append(failure)
    finally:
        stop.set()
