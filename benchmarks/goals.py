# SPDX-License-Identifier: Apache-2.0
"""What is to be reached, one goal a line: ratios inside one run, of which ``bench`` prints what there is to measure."""

from __future__ import annotations

from dataclasses import dataclass

NOT_HERE = "not measured here"
ON_TOPICS = "python -m benchmarks --ros measures it"
GOAL_ROBOT = "talos_reduced"  # PAL Robotics Talos, 38 freedoms


@dataclass(frozen=True)
class Goal:
    """A number and the bound it has to keep.

    Attributes:
        name: Path and what it is compared with, joined by a dot.
        path: What is timed, in words; always ours.
        against: What it is compared with, in words; the number is our time over its time, or the inverse where it says times faster.
        sense: ``<=``, ``<`` or ``>=``.
        limit: The bound.
        unit: ``x`` for a ratio, otherwise the unit of the number.
        tolerance: Largest difference between both answers, where they answer the same question; in the unit of the answer.
        on_robot: Whether the bound was set for ``GOAL_ROBOT`` and is not judged on another.
    """

    name: str
    path: str
    against: str
    sense: str
    limit: float
    unit: str = "x"
    tolerance: float | None = None
    on_robot: bool = True

    @property
    def bound(self) -> str:
        """The bound in words."""
        return f"{self.sense} {self.limit:.4g}{'' if self.unit == 'x' else ' ' + self.unit}"

    def is_met(self, value: float) -> bool:
        """Whether a number keeps the bound."""
        return (
            value >= self.limit
            if self.sense == ">="
            else value < self.limit
            if self.sense == "<"
            else value <= self.limit
        )


_QP = "quadratic programs of ticks"
_ID, _LIMITS = "inverse dynamics", "inverse dynamics with friction, CoP and torque limits"
_WS, _FD = "closed chain, inverse dynamics by W and S", "closed chain, forward dynamics"
_TASKS = "whole-body control: centre of mass, hand, posture"
_FILTER_ALL = "balanced filter tick with all limits"
_STREAM = "a walk through the filter"
_RIGID, _POINTS = "simulation step, rigid feet", "simulation step, 8 friction points"
_SNAKE, _ROS, _LOCKSTEP = (
    "Kane snake",
    "ROS, state in to torque out, 1 kHz, 30 joints",
    "ROS, simulator and controller in lock step",
)
_REAL = "simulated over real time at 1 kHz"

GOALS = (
    Goal(
        "inverse_dynamics.minimum_torque",
        f"{_ID}, minimum torque",
        "floor_ID",
        "<=",
        3.0,
        tolerance=1e-8,
    ),
    Goal(
        "inverse_dynamics.pseudo_inverse",
        f"{_ID}, pseudo-inverse",
        "floor_ID",
        "<=",
        3.0,
        tolerance=1e-8,
    ),
    Goal(
        "inverse_dynamics.transition", f"{_ID}, transition", "floor_ID", "<=", 3.0, tolerance=1e-8
    ),
    Goal("inverse_dynamics.tsid", f"{_ID}, minimum torque", "a TSID tick", "<=", 1 / 7),
    Goal("inverse_dynamics.placo", f"{_ID}, minimum torque", "a placo tick", "<=", 1 / 5),
    Goal(
        "inverse_dynamics.pinv",
        f"{_ID}, pseudo-inverse",
        "np.linalg.pinv, literal: times faster",
        ">=",
        6.5,
        tolerance=1e-9,
    ),
    Goal("inverse_dynamics_limits.floor", _LIMITS, "floor_ID", "<=", 4.5),
    Goal(
        "inverse_dynamics_limits.reference",
        _LIMITS,
        "dense program, daqp: times faster",
        ">=",
        4.0,
        tolerance=1e-6,
    ),
    Goal(
        "inverse_dynamics_limits.fading",
        f"{_LIMITS}, a sole that fades",
        "floor_ID",
        "<=",
        4.5,
        tolerance=1e-6,
    ),
    Goal("inverse_dynamics_limits.tsid", _LIMITS, "a TSID tick", "<=", 1 / 4),
    Goal(
        "inverse_dynamics_limits.worst",
        f"{_LIMITS}, worst of up to 10 000 states",
        "its median",
        "<=",
        1.5,
    ),
    Goal(
        "inverse_dynamics_limits.worst_inside",
        f"{_LIMITS}, worst of those that can be met",
        "its median",
        "<=",
        1.5,
    ),
    Goal(
        "inverse_dynamics_limits.worst_beyond",
        f"{_LIMITS}, worst of those that cannot",
        "its median",
        "<=",
        1.5,
    ),
    Goal("closed_chain.floor", _WS, "floor_ID", "<=", 4.0, tolerance=1e-8),
    Goal(
        "closed_chain.difference",
        f"{_WS}, torque",
        "least torque by contact forces: difference",
        "<=",
        1e-8,
        "N·m",
        on_robot=False,
    ),
    Goal(
        "closed_chain_forward.compiled",
        f"{_FD} by W' M W",
        "pin.constraintDynamics",
        "<=",
        3.0,
        tolerance=1e-8,
    ),
    Goal(
        "closed_chain_forward.unit_vectors",
        f"{_FD} by W' M W",
        "unit vectors, literal: times faster",
        ">=",
        4.0,
        tolerance=1e-8,
    ),
    Goal("filter.balanced", _FILTER_ALL, "floor_Dyn", "<=", 10.0),
    Goal("filter.balanced_time", _FILTER_ALL, "time", "<=", 100.0, "us"),
    Goal("filter.balanced_tsid", _FILTER_ALL, "a TSID tick", "<=", 0.55),
    Goal("filter.tasks", _TASKS, "floor_Dyn", "<=", 10.0),
    Goal("filter.tasks_tsid", _TASKS, "a TSID tick", "<=", 0.65),
    Goal("filter.balanced_one", f"{_FILTER_ALL}, one sole", "time", "<=", 100.0, "us"),
    Goal("filter_stream.worst", f"{_STREAM}, slowest tick", "its median", "<=", 1.5),
    Goal(
        "filter_stream.conditioning",
        f"{_STREAM}, conditioning of a frame",
        "time",
        "<=",
        50.0,
        "us",
    ),
    Goal("filter_stream.pace", f"{_STREAM}, one core", "real time", ">=", 20.0),
    Goal(
        "filter_stream.teleoperation",
        "teleoperation of two hands, a tick",
        "time",
        "<=",
        150.0,
        "us",
    ),
    Goal("simulation_rigid.compiled", _RIGID, "pin.constraintDynamics", "<=", 1.33),
    Goal("simulation_rigid.mujoco", _RIGID, "mj_step", "<=", 1.0),
    Goal("simulation_points.mujoco_compiled", f"{_POINTS}, compiled", "mj_step", "<=", 2.0),
    Goal("simulation_points.mujoco_numpy", f"{_POINTS}, numpy", "mj_step", "<=", 3.5),
    Goal(
        "simulation_points.iterations", f"{_POINTS}, 4 contact iterations", "1 iteration", "<=", 1.7
    ),
    Goal("real_time.points", f"{_REAL}, friction points", "real time", ">=", 30.0),
    Goal("real_time.rigid", f"{_REAL}, rigid feet", "real time", ">=", 48.0),
    Goal("real_time.node", f"{_REAL}, free-running ROS node", "real time", ">=", 8.0),
    Goal(
        "snake.rnea",
        f"{_SNAKE}, 100 links",
        "pin.rnea of the same chain",
        "<=",
        0.25,
        tolerance=1e-9,
        on_robot=False,
    ),
    Goal("snake.growth", f"{_SNAKE}, 1000 links", "100 links", "<=", 12.0, on_robot=False),
    Goal(
        "snake.compiled",
        f"{_SNAKE}, 1000 links, compiled",
        "time",
        "<=",
        25.0,
        "us",
        on_robot=False,
    ),
    Goal(
        "snake.operations",
        f"{_SNAKE}, operations, worst of all n >= 2",
        "the paper's",
        "<",
        1.0,
        on_robot=False,
    ),
    Goal("qp.wrong", _QP, "wrong answers", "<=", 0.0, "answers", on_robot=False),
    Goal("qp.tail", f"{_QP}, 99.9th percentile", "daqp", "<=", 1.0, on_robot=False),
    Goal("qp.median", _QP, "daqp", "<=", 1.0, on_robot=False),
    Goal("ros.echo", _ROS, "a bare rclpy echo of the same messages", "<=", 2.0),
    Goal("ros.median", _ROS, "median", "<=", 0.4, "ms"),
    Goal("ros.p99", _ROS, "99th percentile", "<=", 1.5, "ms"),
    Goal("ros.lost", "ROS, 500 Hz for 10 minutes", "ticks lost", "<=", 0.0, "ticks"),
    Goal("ros.load", "ROS, 500 Hz", "share of a core", "<=", 0.25, "cores"),
    Goal("lockstep.one_process", _LOCKSTEP, "real time, one process", ">=", 6.0),
    Goal("lockstep.two_processes", _LOCKSTEP, "real time, two processes", ">=", 3.0),
)
