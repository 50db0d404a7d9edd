# SPDX-License-Identifier: Apache-2.0
"""Importing the package costs nothing that was not asked for: no ROS, no window, no terminal library, no setting changed."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

OPTIONAL = {
    "rclpy", "launch", "launch_ros", "ament_index_python", "sensor_msgs", "std_msgs", "geometry_msgs", "trajectory_msgs", "nav_msgs",
    "diagnostic_msgs", "visualization_msgs", "viser", "matplotlib", "typer", "rich", "numba", "mujoco", "rosbags", "urchin",
    "example_robot_data",
}  # fmt: skip

# The numerical libraries come first: what they start and set themselves is theirs.
PROBE = """
import importlib, json, os, sys
for library in ("numpy", "scipy.linalg", "scipy.optimize", "scipy.spatial", "pinocchio"):
    importlib.import_module(library)
threads = lambda: len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
modules, environment, started = set(sys.modules), dict(os.environ), threads()
import humanoid_dynamics
print(json.dumps({
    "file": humanoid_dynamics.__file__,
    "packages": sorted({name.partition(".")[0] for name in set(sys.modules) - modules}),
    "environment": sorted(set(environment.items()) ^ set(os.environ.items())),
    "threads": threads() - started,
}))
"""


def run_probe(code):
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_import_brings_no_optional_package_changes_no_setting_and_says_nothing():
    done = run_probe(PROBE)
    seen = json.loads(done.stdout)
    assert Path(seen["file"]).is_relative_to(ROOT)
    assert not OPTIONAL & set(seen["packages"])
    assert seen["environment"] == []
    assert seen["threads"] == 0
    assert done.stderr == ""


def test_package_imports_where_no_optional_package_is_installed():
    run_probe(
        f"import sys; sys.modules.update(dict.fromkeys({sorted(OPTIONAL)!r})); import humanoid_dynamics"
    )


def test_import_and_help_load_no_numerical_library():
    """They take a tenth of a second, and numpy alone takes as long."""
    heavy = "[name for name in ('numpy', 'scipy', 'pinocchio', 'numba') if name in sys.modules]"
    run_probe(f"import sys; import humanoid_dynamics; assert not {heavy}, {heavy}")
    run_probe(
        "import sys; sys.argv = ['humanoid-dynamics', '--help']\n"
        "from humanoid_dynamics.cli import main\n"
        f"try:\n    main()\nexcept SystemExit:\n    assert not {heavy}, {heavy}"
    )
