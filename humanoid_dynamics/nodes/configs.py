"""Parameters of every node: one frozen dataclass each, the source of names, defaults, units, ranges and descriptions; no ROS needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from humanoid_dynamics.control.balance_hold import SAFE_OUTPUTS
from humanoid_dynamics.control.balance_settings import SOURCES
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
    live: bool = False,
) -> Any:
    """Declare a field of a node's configuration.

    Args:
        default: Value where nobody sets one.
        description: What it does.
        unit: Its unit, empty for names and ratios.
        lowest: Lowest value allowed, for numbers.
        highest: Highest value allowed, for numbers.
        choices: Values allowed, for names; any where empty.
        live: Whether it may change while the node is configured.
    """
    about = {"description": description, "unit": unit, "lowest": lowest, "highest": highest, "choices": tuple(choices), "live": live}
    return field(default=default, metadata=about)


@dataclass(frozen=True)
class NodeConfig:
    """Parameters of every node that knows its robot."""

    robot: str = parameter("", "Catalogue name or URDF path; empty to wait for /robot_description")
    config: str = parameter("", "Catalogue name or YAML path that says what the URDF cannot")
    autostart: bool = parameter(True, "Whether the node configures and activates itself as soon as the robot is known")
    frame_prefix: str = parameter(AUTO, "Prefix of frame names, such as `a/`; `auto` takes the namespace of the node, none in `/`")


@dataclass(frozen=True)
class BagConfig:
    """Parameters of every node that holds a bag."""

    file: str = parameter("", "The bag: an .mcap file, or a folder as `ros2 bag` makes it")
    topics: tuple[str, ...] = parameter((), "Topics; those of our nodes are recorded, and all of a bag played, where empty")
    autostart: bool = parameter(True, "Whether the node configures and activates itself")


@dataclass(frozen=True)
class EffortGuardConfig(NodeConfig):
    """Parameters of the node ``effort_guard``."""

    joints: tuple[str, ...] = parameter((), "Joints in the order of commands; those of the robot where empty")
    effort_limits: tuple[float, ...] = parameter((), "Largest effort of each joint; those of the robot where empty [N·m or N]")
    rate: float = parameter(500.0, "Rate of the commands, and of the safe output", unit="Hz", lowest=1.0, highest=2000.0)
    timeout: float = parameter(
        0.05, "Age at which a command is stale, by receipt and by stamp", unit="s", lowest=0.001, highest=10.0, live=True
    )
    skew: float = parameter(0.01, "How far a stamp may lie in the future", unit="s", lowest=0.0, highest=10.0, live=True)
    bad_commands: int = parameter(5, "Bad commands in a row during which the last good one is held; one more latches the guard", live=True)
    effort_rate: float = parameter(
        50.0, "Largest change of an effort per second, as a share of its limit", unit="1/s", lowest=0.1, highest=1e6
    )
    effort_cap: float = parameter(1000.0, "Largest effort of a joint whose limit nobody tells", unit="N·m", lowest=0.0, highest=1e6)
    safe_output: str = parameter("gravity_hold", "What goes out after a fault", choices=SAFE_OUTPUTS)
    state_timeout: float = parameter(
        0.05, "Age of joint states or odometry at which balance_hold gives way to damping", unit="s", lowest=0.001, highest=10.0
    )
    damping: float = parameter(0.02, "Damping after a fault, per effort limit", unit="s/rad", lowest=0.0, highest=10.0)
    decay: float = parameter(1.0, "Time in which what holds fades after a fault", unit="s", lowest=0.001, highest=60.0)
    busy: bool = parameter(False, "Whether it waits for messages awake: sooner there, for a whole core")


@dataclass(frozen=True)
class InverseDynamicsConfig(NodeConfig):
    """Parameters of the node ``inverse_dynamics``."""

    rule: str = parameter(DEFAULT_RULE, "Rule that chooses among the torques", choices=RULES, live=True)
    rule_blend: float = parameter(0.1, "Time in which a new rule takes over", unit="s", lowest=0.001, highest=10.0, live=True)
    contact_source: str = parameter("wrench", "Where it knows from which soles stand", choices=SOURCES, live=True)
    timeout: float = parameter(0.05, "Age at which a state is stale", unit="s", lowest=0.001, highest=10.0, live=True)
    skew: float = parameter(0.01, "How far a stamp may lie in the future", unit="s", lowest=0.0, highest=10.0, live=True)
    decay: float = parameter(
        0.3, "Time in which the torques of a stale state fade to zero", unit="s", lowest=0.001, highest=60.0, live=True
    )
    watch_rate: float = parameter(500.0, "Rate at which a missing state is looked for", unit="Hz", lowest=1.0, highest=2000.0)
    detail_rate: float = parameter(
        50.0, "Rate of planned wrenches and of the certificate", unit="Hz", lowest=0.1, highest=2000.0, live=True
    )
    close_share: float = parameter(0.02, "Normal force at which a contact closes, per weight", unit="-", lowest=0.0, highest=1.0, live=True)
    open_share: float = parameter(
        0.01, "Normal force below which a contact opens, per weight", unit="-", lowest=0.0, highest=1.0, live=True
    )
    debounce: float = parameter(0.01, "How long a change of contact must last", unit="s", lowest=0.0, highest=1.0, live=True)
    blend: float = parameter(
        0.5,
        "Time in which a jump of the reference of up to 0.25 rad or m is taken; larger ones take proportionally longer",
        unit="s",
        lowest=0.01,
        highest=10.0,
        live=True,
    )
    fall_tilt: float = parameter(
        1.0, "Tilt of the base against the reference that counts as a fall", unit="rad", lowest=0.1, highest=3.2, live=True
    )
    await_reference: bool = parameter(
        False, "Whether nothing is sent before a reference has come; in lock-step the world then waits for the motion", live=True
    )
    compiled: bool = parameter(True, "Whether numba, where it is installed, makes it faster; it takes some time when configured first")
    busy: bool = parameter(False, "Whether it waits for messages awake: sooner there, for a whole core")


@dataclass(frozen=True)
class SimulatorConfig(NodeConfig):
    """Parameters of the node ``simulator``."""

    scene: str = parameter("", "Scene to run instead of the robot on a plane: a name or a path")
    points: str = parameter(
        "body", "What touches the ground without a scene: all bodies, or contact surfaces alone", choices=("body", "surfaces")
    )
    dt: float = parameter(0.001, "Time step", unit="s", lowest=1e-5, highest=0.02)
    rate: float = parameter(500.0, "Rate of the states; steps between two of them are whole", unit="Hz", lowest=1.0, highest=2000.0)
    lock_step: bool = parameter(False, "Whether time stands still until the command for the last state has come; drives /clock")
    paced: bool = parameter(False, "Whether lock-step, where it is faster, keeps to `speed`")
    wait_for_command: bool = parameter(True, "Whether the world stands still until the first command comes")
    speed: float = parameter(1.0, "Seconds simulated in a second", unit="-", lowest=0.01, highest=100.0, live=True)
    command_timeout: float = parameter(0.2, "Age at which a command is no longer applied", unit="s", lowest=0.001, highest=60.0, live=True)
    push_time: float = parameter(0.1, "How long a push lasts", unit="s", lowest=0.001, highest=10.0, live=True)
    pose_rate: float = parameter(50.0, "Rate of frames and of the audit", unit="Hz", lowest=0.1, highest=500.0)
    compiled: bool = parameter(True, "Whether numba, where it is installed, makes it faster; it takes some time when configured first")
    busy: bool = parameter(False, "Whether it waits for messages awake: sooner there, for a whole core")


@dataclass(frozen=True)
class MotionPlayerConfig(NodeConfig):
    """Parameters of the node ``motion_player``."""

    motion: str = parameter("squat", f"What is played: {', '.join(SCRIPTS)}, walk, or the path of a motion file")
    play: bool = parameter(False, "Whether it plays as soon as it is active, somebody listens and the clock runs")
    repeat: bool = parameter(False, "Whether it begins again when it has ended", live=True)
    lead: float = parameter(0.5, "How long before its time a piece is sent", unit="s", lowest=0.01, highest=10.0)
    fps: float = parameter(
        0.0, "Samples per second of a motion file that has no times and no rate; 0 for one that has", unit="Hz", lowest=0.0, highest=10000.0
    )
    point_rate: float = parameter(50.0, "Points of the trajectory per second", unit="Hz", lowest=1.0, highest=500.0)


@dataclass(frozen=True)
class DynamicsFilterConfig(NodeConfig):
    """Parameters of the node ``dynamics_filter``."""

    follow: str = parameter("motion", "What it follows: a reference, or poses of frames", choices=("motion", "poses"))
    frames: tuple[str, ...] = parameter(
        ("left_hand", "right_hand"), "Frames that poses lead: control points, surfaces, links or names of the alias map"
    )
    state: str = parameter(
        "own", "What each tick starts from: its own last state, or that drawn to the measured one of the robot", choices=("own", "measured")
    )
    mode: str = parameter("balanced", "How a reference is followed: balanced, or by the law of the paper", choices=("balanced", "paper"))
    rate: float = parameter(200.0, "Frames per second", unit="Hz", lowest=50.0, highest=1000.0)
    delay: float = parameter(1.1, "How much later than in the reference everything happens", unit="s", lowest=1.0, highest=10.0)
    lead: float = parameter(0.1, "How long before its time a frame is sent", unit="s", lowest=0.0, highest=1.0)
    timeout: float = parameter(0.25, "Age at which a state or a piece of the reference is stale", unit="s", lowest=0.01, highest=10.0)
    engaged: bool = parameter(True, "Whether it follows as soon as it is active")
    relative: bool = parameter(False, "Whether poses count from where frame and operator were when it was engaged")
    scale: float = parameter(
        1.0, "Metres of the robot for a metre of the operator, where poses are relative", unit="-", lowest=0.01, highest=100.0
    )
    slope: float = parameter(
        0.0, "How steep the ground is, up where uphill points; zero where it follows poses", unit="rad", lowest=-1.0, highest=1.0
    )
    uphill: float = parameter(0.0, "Where the ground goes up: turn from the x axis of the world", unit="rad", lowest=-6.3, highest=6.3)
    edges: bool = parameter(False, "Whether soles roll over their front edge before they are lifted, where it follows a reference")


@dataclass(frozen=True)
class MonitorConfig(NodeConfig):
    """Parameters of the node ``monitor``."""

    push: float = parameter(0.0, "Force of a push at the base every ten seconds", unit="N", lowest=0.0, highest=10000.0, live=True)


@dataclass(frozen=True)
class ViewerConfig(NodeConfig):
    """Parameters of the node ``viewer``."""

    host: str = parameter("127.0.0.1", "Address the page listens on; anything but this machine needs a token to touch")
    port: int = parameter(8080, "Port of the page; the next free one where it is taken")
    token: str = parameter("", "Token that opens the controls, 16 characters or more; a fresh one where left out and one is needed")
    origins: tuple[str, ...] = parameter((), "Other origins under which the page is reached, such as https://robot.example of a proxy")
    rate: float = parameter(30.0, "Pictures per second", unit="Hz", lowest=1.0, highest=120.0)
    simple: bool = parameter(False, "Whether links are drawn as capsules, without meshes")
    rule: str = parameter("", "Rule of the controller at the start; empty where none can be chosen", choices=("", *RULES))
    leads: bool = parameter(False, "Whether frames can be led by their axes, for a filter that follows poses")
    frames: tuple[str, ...] = parameter(("left_hand", "right_hand"), "Frames that can be led")
    connections: tuple[str, ...] = parameter((), "Connections of the scene that can be closed and opened")
    push_time: float = parameter(0.1, "How long the simulator applies a push", unit="s", lowest=0.001, highest=10.0)
    simulator: str = parameter("simulator", "Node that is asked to pause, step, reset, connect and cut")
    controller: str = parameter("inverse_dynamics", "Node whose rule is chosen")


@dataclass(frozen=True)
class SnakeDriverConfig(NodeConfig):
    """Parameters of the node ``snake_driver``."""

    rate: float = parameter(500.0, "Rate of the torque commands", unit="Hz", lowest=1.0, highest=2000.0)
    timeout: float = parameter(0.1, "Age at which a joint state is stale", unit="s", lowest=0.001, highest=10.0)
    decay: float = parameter(0.5, "Time in which the torques of a stale state fade to zero", unit="s", lowest=0.001, highest=60.0)
    friction: float = parameter(0.6, "Coulomb coefficient of the wheels", unit="-", lowest=0.01, highest=10.0)
    turn_rate: float = parameter(0.5, "How fast the aim follows the heading", unit="rad/s", lowest=0.001, highest=10.0)
    speed: float = parameter(0.3, "Speed of the head along itself", unit="m/s", lowest=0.0, highest=10.0)
    swing: float = parameter(0.6, "Amplitude of the head about the heading", unit="rad", lowest=0.0, highest=1.5)
    period: float = parameter(2.0, "Period of the swing", unit="s", lowest=0.1, highest=60.0)


@dataclass(frozen=True)
class RecorderConfig(BagConfig):
    """Parameters of the node ``recorder``."""

    all_topics: bool = parameter(False, "Whether every topic is recorded that anybody publishes")
    seconds: float = parameter(0.0, "How long; until the node is ended where zero", unit="s", lowest=0.0, highest=1e6)


@dataclass(frozen=True)
class BagPlayerConfig(BagConfig):
    """Parameters of the node ``bag_player``."""

    speed: float = parameter(1.0, "Seconds of the bag in a second", unit="-", lowest=0.01, highest=100.0, live=True)
    loop: bool = parameter(False, "Whether it begins again at the end", live=True)
    start: float = parameter(0.0, "Where in the bag it begins", unit="s", lowest=0.0, highest=1e6)
    delay: float = parameter(0.5, "How long it waits for those who listen before it begins", unit="s", lowest=0.0, highest=60.0)
    clock: float = parameter(
        0.0, "Rate at which the time of the bag goes out on /clock; none where zero", unit="Hz", lowest=0.0, highest=1e4
    )
    stay: bool = parameter(True, "Whether the node stays when the bag is at its end")


CONFIGS: Mapping[str, type[NodeConfig | BagConfig]] = MappingProxyType(
    {
        "simulator": SimulatorConfig,
        "inverse_dynamics": InverseDynamicsConfig,
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
        "# Numbers keep their decimal point: ROS refuses 500 where it wants 500.0.",
        f"/**/{node}:",
        "  ros__parameters:",
    ]
    for entry in fields(CONFIGS[node]):
        if not isinstance(entry.default, tuple):  # YAML cannot tell ROS the type of an empty list
            lines.append(f"    {entry.name}: {_as_yaml(entry.default)}  # {describe(entry.metadata)}")
    return "\n".join(lines) + "\n"


def describe(about: Mapping[str, Any]) -> str:
    """Return what a parameter is in one line: unit, range, description.

    Args:
        about: Metadata of its field.
    """
    span = f"{about['unit']}, {about['lowest']:g} to {about['highest']:g}; " if about["lowest"] is not None else ""
    choices = f" ({' or '.join(choice or 'empty' for choice in about['choices'])})" if about["choices"] else ""
    return f"{span}{about['description']}{choices}{'; may change while running' if about['live'] else ''}"


def _as_yaml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)
