# SPDX-License-Identifier: Apache-2.0
"""Parameters of every node: one frozen dataclass each, the source of names, defaults, units, ranges and descriptions; no ROS needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from humanoid_dynamics.control.balance_hold import SAFE_OUTPUTS
from humanoid_dynamics.control.balance_settings import SOURCES
from humanoid_dynamics.estimation.settings import EstimatorSettings
from humanoid_dynamics.motion.scenarios import SCRIPTS
from humanoid_dynamics.resolution.rules import DEFAULT_RULE, RULES

AUTO = "auto"


def parameter(
    default: Any,
    description: str,
    *,
    unit: str = "",
    lowest: float | None = None,
    highest: float | None = None,
    choices: Iterable[str] = (),
    read_only: bool = True,
) -> Any:
    """Declare a field of a node's configuration.

    Args:
        default: Default value.
        description: Effect of the parameter.
        unit: Unit; ``-`` for ratios, empty for names and flags.
        lowest: Lowest accepted value of a number.
        highest: Highest accepted value of a number.
        choices: Accepted names; any name if empty.
        read_only: Whether the value is fixed while the node is configured.
    """
    about = {
        "description": description,
        "unit": unit,
        "lowest": lowest,
        "highest": highest,
        "choices": tuple(choices),
        "read_only": read_only,
    }
    return field(default=default, metadata=about)


COMPILED = "Whether to use kernels compiled by numba; compilation lengthens the first configuration"
BUSY_WAIT = (
    "Whether to poll for messages instead of sleeping: lower latency, one processor core fully used"
)
SKEW = "Largest accepted lead of a stamp over the clock of the node"


@dataclass(frozen=True)
class NodeConfig:
    """Parameters of every node that needs a robot model."""

    robot: str = parameter(
        "", "Catalogue name or URDF path; empty: wait for the topic robot_description"
    )
    config: str = parameter("", "Catalogue name or YAML path with the data that a URDF cannot hold")
    autostart: bool = parameter(
        True, "Whether the node configures and activates itself once the robot model is available"
    )
    frame_prefix: str = parameter(
        AUTO,
        "Prefix of frame names, such as `a/`; `auto`: the namespace of the node, no prefix in `/`",
    )


@dataclass(frozen=True)
class BagConfig:
    """Parameters of every node that reads or writes a bag."""

    file: str = parameter("", "Bag: an .mcap file or a folder written by `ros2 bag`")
    topics: tuple[str, ...] = parameter(
        (),
        "Topics; if empty, the recorder takes those of this package and the player all of the bag",
    )
    autostart: bool = parameter(True, "Whether the node configures and activates itself")


@dataclass(frozen=True)
class EffortGuardConfig(NodeConfig):
    """Parameters of the node ``effort_guard``."""

    joints: tuple[str, ...] = parameter(
        (), "Joint names in command order; the actuated joints of the robot if empty"
    )
    effort_limits: tuple[float, ...] = parameter(
        (), "Effort limit of each joint [N·m or N]; the limits of the robot if empty"
    )
    rate: float = parameter(
        500.0,
        "Publishing rate of the commands and of the safe output",
        unit="Hz",
        lowest=1.0,
        highest=2000.0,
    )
    timeout: float = parameter(
        0.05,
        "Age, by reception and by stamp, from which a command is stale",
        unit="s",
        lowest=0.001,
        highest=10.0,
        read_only=False,
    )
    skew: float = parameter(0.01, SKEW, unit="s", lowest=0.0, highest=10.0, read_only=False)
    bad_commands: int = parameter(
        5,
        "Number of consecutive invalid commands during which the last valid one is held; one more latches the guard",
        read_only=False,
    )
    effort_rate: float = parameter(
        50.0,
        "Largest change of an effort per second, as a fraction of its limit",
        unit="1/s",
        lowest=0.1,
        highest=1e6,
    )
    default_effort_limit: float = parameter(
        1000.0,
        "Effort limit of joints without one in the model [N·m or N]",
        unit="N·m",
        lowest=0.0,
        highest=1e6,
    )
    safe_output: str = parameter("gravity_hold", "Output after a fault", choices=SAFE_OUTPUTS)
    state_timeout: float = parameter(
        0.05,
        "Age of joint states or odometry from which balance_hold changes to damping",
        unit="s",
        lowest=0.001,
        highest=10.0,
    )
    damping: float = parameter(
        0.02,
        "Joint damping after a fault, per unit of effort limit",
        unit="s/rad",
        lowest=0.0,
        highest=10.0,
    )
    fade_out_duration: float = parameter(
        1.0,
        "Time in which holding torques fade to zero after a fault",
        unit="s",
        lowest=0.001,
        highest=60.0,
    )
    busy_wait: bool = parameter(False, BUSY_WAIT)


@dataclass(frozen=True)
class InverseDynamicsConfig(NodeConfig):
    """Parameters of the node ``inverse_dynamics``."""

    rule: str = parameter(
        DEFAULT_RULE,
        "Rule that selects one of the feasible torques",
        choices=RULES,
        read_only=False,
    )
    rule_blend: float = parameter(
        0.1,
        "Duration of the transition to a newly selected rule",
        unit="s",
        lowest=0.001,
        highest=10.0,
        read_only=False,
    )
    contact_source: str = parameter(
        "wrench", "Source of the contact state of the soles", choices=SOURCES, read_only=False
    )
    timeout: float = parameter(
        0.05,
        "Age from which a state is stale",
        unit="s",
        lowest=0.001,
        highest=10.0,
        read_only=False,
    )
    skew: float = parameter(0.01, SKEW, unit="s", lowest=0.0, highest=10.0, read_only=False)
    fade_out_duration: float = parameter(
        0.3,
        "Time in which the torques fade to zero after the state became stale",
        unit="s",
        lowest=0.001,
        highest=60.0,
        read_only=False,
    )
    watch_rate: float = parameter(
        500.0, "Rate of the check for missing states", unit="Hz", lowest=1.0, highest=2000.0
    )
    detail_rate: float = parameter(
        50.0,
        "Publishing rate of planned wrenches and certificate",
        unit="Hz",
        lowest=0.1,
        highest=2000.0,
        read_only=False,
    )
    contact_on_threshold: float = parameter(
        0.02,
        "Normal force from which a contact closes, per weight of the robot",
        unit="-",
        lowest=0.0,
        highest=1.0,
        read_only=False,
    )
    contact_off_threshold: float = parameter(
        0.01,
        "Normal force below which a contact opens, per weight of the robot",
        unit="-",
        lowest=0.0,
        highest=1.0,
        read_only=False,
    )
    debounce: float = parameter(
        0.01,
        "Time for which a new contact state must persist",
        unit="s",
        lowest=0.0,
        highest=1.0,
        read_only=False,
    )
    blend: float = parameter(
        0.5,
        "Duration of the transition after a reference jump of up to 0.25 rad or m; in proportion longer for larger jumps",
        unit="s",
        lowest=0.01,
        highest=10.0,
        read_only=False,
    )
    fall_tilt: float = parameter(
        1.0,
        "Tilt of the base relative to the reference that counts as a fall",
        unit="rad",
        lowest=0.1,
        highest=3.2,
        read_only=False,
    )
    await_reference: bool = parameter(
        False,
        "Whether torques are withheld until a reference arrives; in lock-step, simulated time then waits too",
        read_only=False,
    )
    joint_friction: bool = parameter(
        True,
        "Whether torques compensate the joint friction and damping of the robot model",
        read_only=False,
    )
    busy_wait: bool = parameter(False, BUSY_WAIT)


@dataclass(frozen=True)
class StateEstimatorConfig(NodeConfig):
    """Parameters of the node ``state_estimator``."""

    imu: str = parameter("base", "IMU of the robot model whose samples come on the topic imu")
    wrenches: bool = parameter(
        True, "Whether measured contact wrenches are used where they are published"
    )
    publish_tf: bool = parameter(
        True, "Whether the transform from odom to the base is published, if tf2_msgs is installed"
    )
    watch_rate: float = parameter(
        50.0, "Rate of the check for missing inputs", unit="Hz", lowest=1.0, highest=500.0
    )
    flat_floor: bool = parameter(
        False,
        "Whether the floor is flat and level at floor_height, which is then a weak measurement of height",
    )
    floor_height: float = parameter(
        0.0, "Height of the flat floor", unit="m", lowest=-1e3, highest=1e3
    )
    gyro_noise: float = parameter(
        EstimatorSettings.gyro_noise,
        "Noise density of the gyroscope",
        unit="rad/s/sqrt(Hz)",
        lowest=1e-7,
        highest=1.0,
    )
    acc_noise: float = parameter(
        EstimatorSettings.acc_noise,
        "Noise density of the accelerometer",
        unit="m/s^2/sqrt(Hz)",
        lowest=1e-6,
        highest=10.0,
    )
    gyro_bias_deviation: float = parameter(
        EstimatorSettings.gyro_bias_deviation,
        "Standard deviation of the unknown gyroscope bias",
        unit="rad/s",
        lowest=1e-6,
        highest=1.0,
    )
    acc_bias_deviation: float = parameter(
        EstimatorSettings.acc_bias_deviation,
        "Standard deviation of the unknown accelerometer bias",
        unit="m/s^2",
        lowest=1e-5,
        highest=10.0,
    )
    contact_noise: float = parameter(
        EstimatorSettings.contact_noise,
        "Noise density of the velocity of a loaded contact point",
        unit="m/s/sqrt(Hz)",
        lowest=1e-5,
        highest=10.0,
    )
    contact_force: float = parameter(
        EstimatorSettings.contact_force,
        "Normal force at which a contact is as likely as not",
        unit="N",
        lowest=0.1,
        highest=1e4,
    )
    torque_deviation: float = parameter(
        EstimatorSettings.torque_deviation,
        "Standard deviation of joint torques",
        unit="N·m",
        lowest=1e-3,
        highest=1e3,
    )
    gyro_limit: float = parameter(
        EstimatorSettings.gyro_limit,
        "Range of the gyroscope, at which it is saturated",
        unit="rad/s",
        lowest=0.1,
        highest=1e3,
    )
    acc_limit: float = parameter(
        EstimatorSettings.acc_limit,
        "Range of the accelerometer, at which it is saturated",
        unit="m/s^2",
        lowest=10.0,
        highest=1e5,
    )
    imu_gap: float = parameter(
        EstimatorSettings.imu_gap,
        "Interval of IMU samples that counts as a gap",
        unit="s",
        lowest=0.001,
        highest=1.0,
    )
    longest_gap: float = parameter(
        EstimatorSettings.longest_gap,
        "Gap beyond which velocities are unknown",
        unit="s",
        lowest=0.01,
        highest=10.0,
    )
    stale: float = parameter(
        EstimatorSettings.stale,
        "Age from which an input is stale and no odometry is published",
        unit="s",
        lowest=0.001,
        highest=10.0,
    )
    frozen: float = parameter(
        EstimatorSettings.frozen,
        "Duration of constant joint values while the robot turns from which they are frozen",
        unit="s",
        lowest=0.001,
        highest=10.0,
    )
    busy_wait: bool = parameter(False, BUSY_WAIT)


@dataclass(frozen=True)
class SimulatorConfig(NodeConfig):
    """Parameters of the node ``simulator``."""

    scene: str = parameter("", "Name or path of a scene; the robot on a plane if empty")
    points: str = parameter(
        "body",
        "Contact geometry without a scene: all bodies, or the contact surfaces only",
        choices=("body", "surfaces"),
    )
    dt: float = parameter(0.001, "Time step", unit="s", lowest=1e-5, highest=0.02)
    rate: float = parameter(
        500.0,
        "Publishing rate of states, rounded to a whole number of time steps",
        unit="Hz",
        lowest=1.0,
        highest=2000.0,
    )
    lock_step: bool = parameter(
        False,
        "Whether simulated time waits for the command that answers the last state; publishes clock",
    )
    real_time_factor: float = parameter(
        1.0,
        "Simulated time per real time, at least 0.01, in lock-step an upper limit; 0: as fast as possible",
        unit="-",
        lowest=0.0,
        highest=100.0,
        read_only=False,
    )
    wait_for_command: bool = parameter(True, "Whether simulated time waits for the first command")
    command_timeout: float = parameter(
        0.2,
        "Age from which a command is no longer applied",
        unit="s",
        lowest=0.001,
        highest=60.0,
        read_only=False,
    )
    push_time: float = parameter(
        0.1, "Duration of a push", unit="s", lowest=0.001, highest=10.0, read_only=False
    )
    sensors: bool = parameter(
        False,
        "Whether IMUs and joint efforts are published, and sensors have the noise below and that of the robot's IMUs",
    )
    encoder_noise: float = parameter(
        0.0,
        "Standard deviation of joint positions",
        unit="rad",
        lowest=0.0,
        highest=1.0,
    )
    velocity_noise: float = parameter(
        0.0,
        "Standard deviation of joint velocities",
        unit="rad/s",
        lowest=0.0,
        highest=10.0,
    )
    effort_noise: float = parameter(
        0.0,
        "Standard deviation of joint efforts",
        unit="N·m",
        lowest=0.0,
        highest=100.0,
    )
    seed: int = parameter(0, "Seed of sensor noise and biases")
    pose_rate: float = parameter(
        50.0, "Publishing rate of frames and audit", unit="Hz", lowest=0.1, highest=500.0
    )
    compiled: bool = parameter(True, COMPILED)
    busy_wait: bool = parameter(False, BUSY_WAIT)


@dataclass(frozen=True)
class MotionPlayerConfig(NodeConfig):
    """Parameters of the node ``motion_player``."""

    motion: str = parameter(
        "squat", f"Motion: {', '.join(SCRIPTS)}, walk, or the path of a motion file"
    )
    play: bool = parameter(
        False, "Whether to play once the node is active, a subscriber exists and the clock runs"
    )
    repeat: bool = parameter(False, "Whether to start again after the end", read_only=False)
    approach: bool = parameter(
        True,
        "Whether a motion file starts with a path from the resting posture to its first posture and a rest there",
    )
    publish_lead_time: float = parameter(
        0.5,
        "Time by which points are published ahead of their stamp",
        unit="s",
        lowest=0.01,
        highest=10.0,
    )
    fps: float = parameter(
        0.0,
        "Samples per second of a motion file without times and rate; 0: times of the file",
        unit="Hz",
        lowest=0.0,
        highest=10000.0,
    )
    point_rate: float = parameter(
        50.0, "Trajectory points per second", unit="Hz", lowest=1.0, highest=500.0
    )


@dataclass(frozen=True)
class DynamicsFilterConfig(NodeConfig):
    """Parameters of the node ``dynamics_filter``."""

    follow: str = parameter(
        "motion", "Input: a reference motion, or poses of frames", choices=("motion", "poses")
    )
    frames: tuple[str, ...] = parameter(
        ("left_hand", "right_hand"),
        "Frames with a target pose: control points, surfaces, links or names of the alias map",
    )
    state: str = parameter(
        "own",
        "Initial state of each tick: the last filtered state, or that state corrected towards the measured one",
        choices=("own", "measured"),
    )
    mode: str = parameter(
        "balanced",
        "Tracking law: the balance filter, or the law of the paper",
        choices=("balanced", "paper"),
    )
    rate: float = parameter(200.0, "Frames per second", unit="Hz", lowest=50.0, highest=1000.0)
    delay: float = parameter(
        1.1, "Latency from reference to output", unit="s", lowest=1.0, highest=10.0
    )
    publish_lead_time: float = parameter(
        0.1,
        "Time by which frames are published ahead of their stamp",
        unit="s",
        lowest=0.0,
        highest=1.0,
    )
    timeout: float = parameter(
        0.25,
        "Age from which a state or a reference point is stale",
        unit="s",
        lowest=0.01,
        highest=10.0,
    )
    auto_engage: bool = parameter(
        True, "Whether the filter follows its input once the node is active"
    )
    relative: bool = parameter(
        False, "Whether poses are relative to those of frame and operator at the time of engagement"
    )
    scale: float = parameter(
        1.0,
        "Robot displacement per operator displacement, for relative poses",
        unit="-",
        lowest=0.01,
        highest=100.0,
    )
    slope: float = parameter(
        0.0,
        "Inclination of the ground, rising in the direction `uphill`; 0 if `follow` is `poses`",
        unit="rad",
        lowest=-1.0,
        highest=1.0,
    )
    uphill: float = parameter(
        0.0,
        "Direction in which the ground rises, from the x axis of the world",
        unit="rad",
        lowest=-6.3,
        highest=6.3,
    )
    toe_roll: bool = parameter(
        False, "Whether soles roll over their front edge before lift-off, for a reference motion"
    )


@dataclass(frozen=True)
class MonitorConfig(NodeConfig):
    """Parameters of the node ``monitor``."""

    push: float = parameter(
        0.0,
        "Force applied to the base every ten seconds",
        unit="N",
        lowest=0.0,
        highest=10000.0,
        read_only=False,
    )


@dataclass(frozen=True)
class ViewerConfig(NodeConfig):
    """Parameters of the node ``viewer``."""

    host: str = parameter(
        "127.0.0.1", "Listening address of the page; control from other machines requires a token"
    )
    port: int = parameter(8080, "Port of the page; the next free port if it is taken")
    token: str = parameter(
        "", "Token of the controls, at least 16 characters; generated if empty and required"
    )
    origins: tuple[str, ...] = parameter(
        (), "Additional origins of the page, such as https://robot.example of a proxy"
    )
    rate: float = parameter(30.0, "Frames per second", unit="Hz", lowest=1.0, highest=120.0)
    simple: bool = parameter(False, "Whether links are drawn as capsules instead of meshes")
    rule: str = parameter(
        "",
        "Initially selected rule of the controller; empty disables the choice",
        choices=("", *RULES),
    )
    leads: bool = parameter(
        False, "Whether the page offers handles for target poses, for a filter that follows poses"
    )
    frames: tuple[str, ...] = parameter(("left_hand", "right_hand"), "Frames with a handle")
    connections: tuple[str, ...] = parameter(
        (), "Connections of the scene that the page can close and open"
    )
    push_time: float = parameter(
        0.1, "Duration for which the simulator applies a push", unit="s", lowest=0.001, highest=10.0
    )
    simulator: str = parameter(
        "simulator", "Node that provides the services pause, step, reset, connect and cut"
    )
    controller: str = parameter("inverse_dynamics", "Node with the parameter `rule`")


@dataclass(frozen=True)
class SnakeDriverConfig(NodeConfig):
    """Parameters of the node ``snake_driver``."""

    rate: float = parameter(
        500.0, "Publishing rate of the torque commands", unit="Hz", lowest=1.0, highest=2000.0
    )
    timeout: float = parameter(
        0.1, "Age from which a joint state is stale", unit="s", lowest=0.001, highest=10.0
    )
    fade_out_duration: float = parameter(
        0.5,
        "Time in which the torques fade to zero after the state became stale",
        unit="s",
        lowest=0.001,
        highest=60.0,
    )
    friction: float = parameter(
        0.6, "Coulomb friction coefficient of the wheels", unit="-", lowest=0.01, highest=10.0
    )
    turn_rate: float = parameter(
        0.5,
        "Largest rate of change of the commanded heading",
        unit="rad/s",
        lowest=0.001,
        highest=10.0,
    )
    speed: float = parameter(
        0.3, "Forward speed of the head link", unit="m/s", lowest=0.0, highest=10.0
    )
    swing: float = parameter(
        0.6, "Amplitude of the head angle about the heading", unit="rad", lowest=0.0, highest=1.5
    )
    period: float = parameter(
        2.0, "Period of the head oscillation", unit="s", lowest=0.1, highest=60.0
    )


@dataclass(frozen=True)
class RecorderConfig(BagConfig):
    """Parameters of the node ``recorder``."""

    all_topics: bool = parameter(False, "Whether to record all published topics")
    seconds: float = parameter(
        0.0, "Duration of the recording; 0: until the node ends", unit="s", lowest=0.0, highest=1e6
    )


@dataclass(frozen=True)
class BagPlayerConfig(BagConfig):
    """Parameters of the node ``bag_player``."""

    speed: float = parameter(
        1.0, "Bag time per real time", unit="-", lowest=0.01, highest=100.0, read_only=False
    )
    loop: bool = parameter(False, "Whether to start again at the end of the bag", read_only=False)
    start: float = parameter(
        0.0, "Start time relative to the beginning of the bag", unit="s", lowest=0.0, highest=1e6
    )
    delay: float = parameter(
        0.5, "Time to wait for subscribers before playing", unit="s", lowest=0.0, highest=60.0
    )
    clock: float = parameter(
        0.0,
        "Rate of the bag time published on /clock; 0: not published",
        unit="Hz",
        lowest=0.0,
        highest=1e4,
    )
    stay: bool = parameter(True, "Whether the node keeps running at the end of the bag")


CONFIGS: Mapping[str, type[NodeConfig | BagConfig]] = MappingProxyType(
    {
        "simulator": SimulatorConfig,
        "inverse_dynamics": InverseDynamicsConfig,
        "state_estimator": StateEstimatorConfig,
        "effort_guard": EffortGuardConfig,
        "motion_player": MotionPlayerConfig,
        "dynamics_filter": DynamicsFilterConfig,
        "monitor": MonitorConfig,
        "viewer": ViewerConfig,
        "snake_driver": SnakeDriverConfig,
        "recorder": RecorderConfig,
        "bag_player": BagPlayerConfig,
    }
)


def write_parameter_file(node: str) -> str:
    """Return the text of ``config/nodes/<node>.yaml``: every parameter at its default, with unit, range and description.

    Args:
        node: Name of the node.
    """
    lines = [
        f"# Parameters of the node {node}, at their defaults; written from humanoid_dynamics/nodes/configs.py by docs/generate.py.",
        "# Numbers keep their decimal point: ROS rejects 500 where it expects 500.0.",
        f"/**/{node}:",
        "  ros__parameters:",
    ]
    for entry in fields(CONFIGS[node]):
        if not isinstance(entry.default, tuple):  # YAML does not give ROS the type of an empty list
            lines.append(
                f"    {entry.name}: {_as_yaml(entry.default)}  # {describe(entry.metadata)}"
            )
    return "\n".join(lines) + "\n"


def describe(about: Mapping[str, Any]) -> str:
    """Format a parameter in one line: unit, range, description.

    Args:
        about: Metadata of its field.
    """
    span = (
        f"{about['unit']}, {about['lowest']:g} to {about['highest']:g}; "
        if about["lowest"] is not None
        else ""
    )
    choices = (
        f" ({' or '.join(choice or 'empty' for choice in about['choices'])})"
        if about["choices"]
        else ""
    )
    return f"{span}{about['description']}{choices}{'' if about['read_only'] else '; settable while running'}"


def _as_yaml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)
