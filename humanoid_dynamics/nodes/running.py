"""How a node of ours runs and ends: callbacks in a thread of their own, a loop at an exact rate, one clean way out.

The executor is rclpy's ``EventsExecutor`` where it exists: it is the fastest one and the only one that keeps up at 1 kHz.  It is always
given a time-out, because in some builds waiting without one never returns.  Rates come from an absolute clock and not from rclpy
timers, which drop the ticks they miss.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

AnyNode = TypeVar("AnyNode", bound=Node)
FOREVER = 1e5  # s; see above


def run(make_node: Callable[[], AnyNode], loop: Callable[[AnyNode, threading.Event], None]) -> None:
    """Run a node until it is interrupted.

    Args:
        make_node: Makes the node, once ROS is initialised.
        loop: Runs in this thread until its event is set; callbacks run in another.
    """
    rclpy.init()
    stop = threading.Event()
    node = None
    try:
        node = make_node()
        executor = _make_executor()
        executor.add_node(node)
        spinner = threading.Thread(target=_spin, args=(executor, stop), daemon=True)
        spinner.start()
        loop(node, stop)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        stop.set()
        rclpy.try_shutdown()


def keep_rate(rate: float, stop: threading.Event, tick: Callable[[], None]) -> None:
    """Call a function at an exact rate until the event is set; ticks that are late are not made up for.

    Args:
        rate: Calls per second [Hz].
        stop: Ends the loop.
        tick: The function.
    """
    period = 1.0 / rate
    due = monotonic() + period
    while not stop.wait(max(0.0, due - monotonic())) and rclpy.ok():
        tick()
        due = max(due + period, monotonic() - period)


def _make_executor() -> SingleThreadedExecutor:
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def _spin(executor: SingleThreadedExecutor, stop: threading.Event) -> None:
    try:
        executor.spin_until_future_complete(Future(), timeout_sec=FOREVER)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        stop.set()
