"""Start the node that publishes holding torques: ``ros2 launch humanoid_dynamics standing_torques.launch.py robot:=human28``."""

from ament_index_python.packages import get_package_share_path
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

PARAMETERS = get_package_share_path("humanoid_dynamics") / "config" / "nodes" / "standing_torques.yaml"
OVERRIDES = ("robot", "config")  # arguments that win over the parameter file where they are given


def generate_launch_description() -> LaunchDescription:
    """Describe the graph: one node, its parameter file, the robot by argument."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("robot", default_value="", description="Catalogue name or URDF path; empty for /robot_description"),
            DeclareLaunchArgument("config", default_value="", description="Catalogue name or YAML path that says what the URDF cannot"),
            DeclareLaunchArgument("params_file", default_value=str(PARAMETERS), description="Parameter file of the node"),
            OpaqueFunction(function=start_node),
        ]
    )


def start_node(context: LaunchContext) -> list[Node]:
    """Start the node with its parameter file and those arguments that are not empty."""
    given = {name: LaunchConfiguration(name).perform(context) for name in OVERRIDES}
    overrides = {name: ParameterValue(value, value_type=str) for name, value in given.items() if value}
    return [
        Node(
            package="humanoid_dynamics",
            executable="standing_torques",
            output="screen",
            parameters=[LaunchConfiguration("params_file"), overrides],
        )
    ]
