"""Start the node that publishes holding torques: ``ros2 launch humanoid_dynamics standing_torques.launch.py robot:=human28``."""

from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

PARAMETERS = get_package_share_path("humanoid_dynamics") / "config" / "nodes" / "standing_torques.yaml"


def generate_launch_description() -> LaunchDescription:
    """Describe the graph: one node, its parameter file, the robot by argument."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("robot", default_value="", description="Catalogue name or URDF path; empty waits for /robot_description"),
            DeclareLaunchArgument("config", default_value="", description="Catalogue name or YAML path added to /robot_description"),
            DeclareLaunchArgument("params_file", default_value=str(PARAMETERS), description="Parameter file of the node"),
            Node(
                package="humanoid_dynamics",
                executable="standing_torques",
                output="screen",
                parameters=[
                    LaunchConfiguration("params_file"),
                    {
                        "robot": ParameterValue(LaunchConfiguration("robot"), value_type=str),
                        "config": ParameterValue(LaunchConfiguration("config"), value_type=str),
                    },
                ],
            ),
        ]
    )
