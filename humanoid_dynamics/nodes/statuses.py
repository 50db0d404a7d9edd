# SPDX-License-Identifier: Apache-2.0
"""Statuses of nodes that have no component of their own."""

from __future__ import annotations

from humanoid_dynamics.status import StatusEnum


class SimulatorNodeStatus(StatusEnum):
    """How the node `simulator` runs."""

    WAITING = "WAITING", "no command has come; the simulation is paused and its state is published"
    RUNNING = "RUNNING", "commands are applied as they come"
    PAUSED = "PAUSED", "paused on request"
    NO_COMMAND = "NO_COMMAND", "no usable command came within the timeout; the motors are off"
    REFUSED = (
        "REFUSED",
        "the latest command was rejected; the one before is applied until it is too old",
    )
    AWAITING_COMMAND = (
        "AWAITING_COMMAND",
        "lock-step: the command for the last state is overdue by a second; simulated time is stopped",
    )
    STOPPED = "STOPPED", "the motion diverged; the service `reset` starts again"
    PENETRATION = "PENETRATION", "a body is below the ground"


class PlayerStatus(StatusEnum):
    """How a reference is played."""

    IDLE = "IDLE", "nothing is played"
    PLAYING = "PLAYING", "the reference is published piece by piece"
    ENDED = "ENDED", "the motion has ended; its last posture is held"
    STOPPED = "STOPPED", "stopped on request"


class RecorderStatus(StatusEnum):
    """How a bag is recorded."""

    WAITING = "WAITING", "no message has come"
    RECORDING = "RECORDING", "messages are written"
    FAILED = "FAILED", "the bag cannot be written; recording has ended"


class BagStatus(StatusEnum):
    """How a bag is played back."""

    WAITING = "WAITING", "no bag is open"
    PLAYING = "PLAYING", "messages are published"
    PAUSED = "PAUSED", "paused on request"
    ENDED = "ENDED", "the bag is at its end"
    BROKEN = "BROKEN", "the rest of the bag cannot be read"


class MonitorStatus(StatusEnum):
    """How the table is drawn."""

    WATCHING = "WATCHING", "the table is drawn"


class ViewerStatus(StatusEnum):
    """Whether the viewer has a state to show, and visitors."""

    INPUT_TIMEOUT = "INPUT_TIMEOUT", "no state comes; the last one is shown"
    SHOWING = "SHOWING", "states come and the page is open"
    UNWATCHED = "UNWATCHED", "states come and no page is open"
