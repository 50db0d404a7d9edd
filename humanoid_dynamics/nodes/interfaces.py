# SPDX-License-Identifier: Apache-2.0
"""Topics and services of every node, as data: nodes make them from here, and the tables of the documentation are written from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from humanoid_dynamics.control.balance_settings import BalanceStatus
from humanoid_dynamics.control.effort_guard import GuardStatus
from humanoid_dynamics.control.snake_driver import SnakeDriverStatus
from humanoid_dynamics.estimation.settings import EstimatorStatus
from humanoid_dynamics.filtering.live.command import LiveFilterStatus
from humanoid_dynamics.nodes.statuses import (
    BagStatus,
    MonitorStatus,
    PlayerStatus,
    RecorderStatus,
    SimulatorNodeStatus,
    ViewerStatus,
)
from humanoid_dynamics.status import StatusEnum

QOS = {
    "state": "published reliable, depth 10; read best effort, depth 10",
    "command": "reliable, depth 1",
    "latched": "reliable, transient local, depth 1",
    "reference": "reliable, depth 10",
    "report": "reliable, depth 10",
    "clock": "published reliable, depth 10; read best effort, depth 10",
    "any": "that of the publishers",
}


ANY = "*"  # stands for all topics


@dataclass(frozen=True)
class Topic:
    """A topic of a node.

    Attributes:
        name: Its name; ``<surface>`` and the like stand for one topic each, ``*`` for all.
        way: ``in`` or ``out``.
        kind: Its type, such as ``sensor_msgs/JointState``.
        qos: One of ``QOS``.
        content: What is in it, with units.
    """

    name: str
    way: str
    kind: str
    qos: str
    content: str


@dataclass(frozen=True)
class Service:
    """A service of a node.

    Attributes:
        name: Its name below the node's.
        kind: Its type.
        purpose: What it does.
    """

    name: str
    kind: str
    purpose: str


@dataclass(frozen=True)
class Interface:
    """Topics, services and statuses of a node.

    Attributes:
        purpose: What it is for, in a sentence.
        topics: Its topics.
        services: Its services.
        statuses: Its statuses; the code of a status is its place among them.
        calls: Services of other nodes it asks.
    """

    purpose: str
    topics: tuple[Topic, ...]
    services: tuple[Service, ...]
    statuses: type[StatusEnum]
    calls: tuple[str, ...] = ()


DESCRIPTION = Topic(
    "robot_description",
    "in",
    "std_msgs/String",
    "latched",
    "URDF; used only if the parameter `robot` is empty",
)
REPORTS = (
    Topic("~/status", "out", "std_msgs/UInt8", "latched", "code of the status"),
    Topic(
        "/diagnostics",
        "out",
        "diagnostic_msgs/DiagnosticArray",
        "report",
        "status, reason, counters; twice a second and at every change",
    ),
)
STATES = (
    Topic(
        "joint_states",
        "in",
        "sensor_msgs/JointState",
        "state",
        "`position` [rad, m] and `velocity` [rad/s, m/s] by name",
    ),
    Topic(
        "odom",
        "in",
        "nav_msgs/Odometry",
        "state",
        "pose of the base [m], velocity in axes of the base [m/s, rad/s]",
    ),
    Topic(
        "contact_wrenches/<surface>",
        "in",
        "geometry_msgs/WrenchStamped",
        "state",
        "measured force and moment at the surface, axes of the surface [N, N·m]",
    ),
)
CONTACT_STATES = Topic(
    "contact_states",
    "in",
    "sensor_msgs/JointState",
    "state",
    "by surface: contact probability in `position` [-], 1 at a slip in `velocity`, normal force in `effort` [N]",
)
IMUS = (
    Topic(
        "imu",
        "in",
        "sensor_msgs/Imu",
        "state",
        "angular rate [rad/s] and specific force [m/s²] of the IMU `base`, in axes of the IMU",
    ),
    Topic(
        "imu/<imu>",
        "in",
        "sensor_msgs/Imu",
        "state",
        "the same of each IMU of the robot",
    ),
)
REFERENCES = (
    Topic(
        "reference/joints",
        "in",
        "trajectory_msgs/JointTrajectory",
        "reference",
        "`positions`, `velocities`, `accelerations` by name [rad, m, s]",
    ),
    Topic(
        "reference/base",
        "in",
        "trajectory_msgs/MultiDOFJointTrajectory",
        "reference",
        "pose of the base [m], velocities in axes of the world [m/s, rad/s]",
    ),
    Topic(
        "reference/contacts",
        "in",
        "trajectory_msgs/JointTrajectory",
        "latched",
        "load fraction of each surface, 0 to 1, at the times at which its change begins or ends",
    ),
    Topic(
        "reference/heartbeat",
        "in",
        "std_msgs/Empty",
        "report",
        "heartbeat of the publisher of the reference, 20 Hz",
    ),
)
LED = Topic(
    "teleop/<frame>/pose",
    "in",
    "geometry_msgs/PoseStamped",
    "state",
    "target pose of a frame in `odom`; if `relative`, in any fixed axes [m]",
)
FILTERED = (
    Topic(
        "filtered/joints",
        "out",
        "trajectory_msgs/JointTrajectory",
        "reference",
        "filtered motion, in the form of `reference/joints`",
    ),
    Topic(
        "filtered/base",
        "out",
        "trajectory_msgs/MultiDOFJointTrajectory",
        "reference",
        "filtered motion of the base",
    ),
    Topic(
        "filtered/contacts",
        "out",
        "trajectory_msgs/JointTrajectory",
        "latched",
        "contacts of the filtered motion, in the form of `reference/contacts`",
    ),
    Topic(
        "filtered/torques",
        "out",
        "sensor_msgs/JointState",
        "state",
        "`position`, `velocity`, `effort` of the filtered motion [rad, m, s, N·m, N]",
    ),
    Topic(
        "filtered/wrenches/<surface>",
        "out",
        "geometry_msgs/WrenchStamped",
        "state",
        "ground contact wrench of the filtered motion, axes of the surface [N, N·m]",
    ),
    Topic(
        "filtered/certificate",
        "out",
        "std_msgs/Float64MultiArray",
        "state",
        "residual per weight [-], margin of the centre of pressure [m], used fractions of friction, normal force and torque limits [-], "
        "distance to joint limit [rad, m], used fraction of the speed limit [-], slip [m/s], rung [-]",
    ),
)
UNGUARDED = (
    Topic(
        "unguarded/joint_torque_commands",
        "out",
        "sensor_msgs/JointState",
        "command",
        "`effort` [N·m, N] by name, with the stamp of the state it answers; input of `effort_guard`, not of motors",
    ),
    Topic(
        "unguarded/effort_commands",
        "out",
        "std_msgs/Float64MultiArray",
        "command",
        "the same efforts in joint order [N·m, N]",
    ),
)
COMMANDS = (  # input of the motors; published by the guard only
    Topic(
        "joint_torque_commands",
        "out",
        "sensor_msgs/JointState",
        "command",
        "guarded `effort` [N·m, N] by name; also the heartbeat, at `rate` or faster",
    ),
    Topic(
        "effort_commands",
        "out",
        "std_msgs/Float64MultiArray",
        "command",
        "the same efforts in joint order [N·m, N]",
    ),
)


def turned(topics: tuple[Topic, ...]) -> tuple[Topic, ...]:
    """Return the topics with publishers and subscribers exchanged.

    Args:
        topics: The topics.
    """
    other = {"in": "out", "out": "in"}
    return tuple(Topic(t.name, other[t.way], t.kind, t.qos, t.content) for t in topics)


INTERFACES: Mapping[str, Interface] = MappingProxyType(
    {
        "simulator": Interface(
            "Simulates a robot or a scene behind the topics of a real robot.",
            (
                turned(COMMANDS)[0],
                Topic(
                    "push",
                    "in",
                    "geometry_msgs/WrenchStamped",
                    "report",
                    "force and moment on the link `frame_id`, axes of the world [N, N·m]",
                ),
                Topic(
                    "robot_description", "out", "std_msgs/String", "latched", "URDF of the robot"
                ),
                *turned(STATES),
                *turned(IMUS),
                Topic(
                    "frames/<frame>",
                    "out",
                    "geometry_msgs/PoseStamped",
                    "state",
                    "REP-120 frames in `odom` [m]; on `/tf` instead if tf2_msgs is installed; names start with `frame_prefix`",
                ),
                Topic(
                    "clock", "out", "rosgraph_msgs/Clock", "clock", "simulated time, in lock-step"
                ),
                Topic(
                    "audit",
                    "out",
                    "std_msgs/Float64MultiArray",
                    "report",
                    "time [s], energy [J], energy error [J], contact residual [m/s], depth [m], momentum [N·s]",
                ),
                *REPORTS,
            ),
            (
                Service("pause", "std_srvs/SetBool", "pause or resume"),
                Service("step", "std_srvs/Trigger", "advance by one period while paused"),
                Service("reset", "std_srvs/Trigger", "return to the initial state"),
                Service(
                    "connect/<connection>", "std_srvs/Trigger", "close a connection of the scene"
                ),
                Service("cut/<connection>", "std_srvs/Trigger", "open a connection of the scene"),
            ),
            SimulatorNodeStatus,
        ),
        "state_estimator": Interface(
            "Estimates pose and velocity of the base and the contacts from IMU and joint states.",
            (
                DESCRIPTION,
                IMUS[0],
                Topic(
                    "joint_states",
                    "in",
                    "sensor_msgs/JointState",
                    "state",
                    "`position`, `velocity` and `effort` by name [rad, m, s, N·m, N]; contacts need `effort` or wrenches",
                ),
                STATES[2],
                *turned(STATES[1:2]),
                *turned((CONTACT_STATES,)),
                *REPORTS,
            ),
            (Service("reset", "std_srvs/Trigger", "forget the estimate and start again at rest"),),
            EstimatorStatus,
        ),
        "inverse_dynamics": Interface(
            "Computes balancing joint torques from a reference and the measured state.",
            (
                DESCRIPTION,
                *STATES,
                CONTACT_STATES,
                *REFERENCES,
                *UNGUARDED,
                Topic(
                    "planned_wrenches/<surface>",
                    "out",
                    "geometry_msgs/WrenchStamped",
                    "state",
                    "planned contact force and moment, axes of the world [N, N·m]",
                ),
                Topic(
                    "certificate",
                    "out",
                    "std_msgs/Float64MultiArray",
                    "state",
                    "residual [N, N·m], margins: normal force [N], friction [N], centre of pressure [m], torque [-]; age of the state [s]",
                ),
                *REPORTS,
            ),
            (),
            BalanceStatus,
        ),
        "effort_guard": Interface(
            "Checks and limits torque commands, and publishes a safe output after a fault.",
            (
                DESCRIPTION,
                turned(UNGUARDED)[0],
                *STATES,
                *COMMANDS,
                *REPORTS,
            ),
            (
                Service("stop", "std_srvs/Trigger", "stop and latch"),
                Service("rearm", "std_srvs/Trigger", "resume after a fault whose cause is removed"),
            ),
            GuardStatus,
        ),
        "motion_player": Interface(
            "Publishes references from clips, gaits and scenarios.",
            (DESCRIPTION, *turned(REFERENCES), *REPORTS),
            (
                Service("play", "std_srvs/Trigger", "play from the beginning"),
                Service("stop", "std_srvs/Trigger", "stop at the next point"),
            ),
            PlayerStatus,
        ),
        "dynamics_filter": Interface(
            "Filters a reference, or poses of an operator, to feasible motion.",
            (DESCRIPTION, *STATES[:2], *REFERENCES[:2], REFERENCES[3], LED, *FILTERED, *REPORTS),
            (
                Service(
                    "engage",
                    "std_srvs/Trigger",
                    "follow the input; relative poses start from the current pose",
                ),
                Service(
                    "hold", "std_srvs/Trigger", "hold the current posture and ignore the input"
                ),
            ),
            LiveFilterStatus,
        ),
        "monitor": Interface(
            "Shows a live table on the terminal, and can push the robot.",
            (
                DESCRIPTION,
                STATES[0],
                STATES[2],
                turned(UNGUARDED)[0],
                turned(COMMANDS)[0],
                REFERENCES[0],
                Topic(
                    "certificate",
                    "in",
                    "std_msgs/Float64MultiArray",
                    "state",
                    "as published by `inverse_dynamics`",
                ),
                Topic(
                    "audit",
                    "in",
                    "std_msgs/Float64MultiArray",
                    "report",
                    "as published by `simulator`",
                ),
                Topic(
                    "/diagnostics",
                    "in",
                    "diagnostic_msgs/DiagnosticArray",
                    "report",
                    "of all nodes",
                ),
                Topic(
                    "push", "out", "geometry_msgs/WrenchStamped", "report", "force at the base [N]"
                ),
                *REPORTS,
            ),
            (),
            MonitorStatus,
        ),
        "viewer": Interface(
            "Serves a browser page that shows the robot, with controls to push, guide and pause it.",
            (
                DESCRIPTION,
                *STATES,
                Topic(
                    "certificate",
                    "in",
                    "std_msgs/Float64MultiArray",
                    "state",
                    "as published by `inverse_dynamics`",
                ),
                Topic(
                    "joint_torque_commands",
                    "in",
                    "sensor_msgs/JointState",
                    "command",
                    "`effort` [N·m, N] by name, while a page is open",
                ),
                Topic(
                    "/diagnostics",
                    "in",
                    "diagnostic_msgs/DiagnosticArray",
                    "report",
                    "of all nodes",
                ),
                Topic(
                    "push",
                    "out",
                    "geometry_msgs/WrenchStamped",
                    "report",
                    "force and moment of a drag on the link `frame_id` [N, N·m]",
                ),
                turned((LED,))[0],
                *REPORTS,
            ),
            (),
            ViewerStatus,
            (
                "simulator/pause",
                "simulator/step",
                "simulator/reset",
                "simulator/connect/<connection>",
                "simulator/cut/<connection>",
                "inverse_dynamics/set_parameters",
            ),
        ),
        "snake_driver": Interface(
            "Computes torques that steer a snake of wheeled links along a heading.",
            (
                DESCRIPTION,
                Topic(
                    "joint_states",
                    "in",
                    "sensor_msgs/JointState",
                    "state",
                    "states of all joints, including those of link 1",
                ),
                Topic(
                    "heading",
                    "in",
                    "std_msgs/Float64",
                    "reference",
                    "commanded heading, angle from the x axis [rad]; the last value stays valid",
                ),
                *UNGUARDED,
                *REPORTS,
            ),
            (),
            SnakeDriverStatus,
        ),
        "recorder": Interface(
            "Records topics into a bag.",
            (
                Topic(ANY, "in", "any", "any", "topics of this package, a list, or all topics"),
                *REPORTS,
            ),
            (),
            RecorderStatus,
        ),
        "bag_player": Interface(
            "Plays back a bag.",
            (
                Topic(
                    ANY,
                    "out",
                    "any",
                    "any",
                    "topics of the bag, and `clock` if its rate is above 0",
                ),
                *REPORTS,
            ),
            (
                Service("pause", "std_srvs/SetBool", "pause or resume"),
                Service("restart", "std_srvs/Trigger", "play from the beginning"),
            ),
            BagStatus,
        ),
    }
)
