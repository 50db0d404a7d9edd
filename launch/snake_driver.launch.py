"""Start the node that drives a snake toward a heading: ``ros2 launch humanoid_dynamics snake_driver.launch.py``."""

from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

PARAMETERS = get_package_share_path("humanoid_dynamics") / "config" / "nodes" / "snake_driver.yaml"


def generate_launch_description() -> LaunchDescription:
    """Describe the graph: one node and its parameter file."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("params_file", default_value=str(PARAMETERS), description="Parameter file of the node, robot included"),
            Node(
                package="humanoid_dynamics",
                executable="snake_driver",
                output="screen",
                parameters=[LaunchConfiguration("params_file")],
            ),
        ]
    )
