# SPDX-License-Identifier: Apache-2.0
"""Everything pip and colcon know about the package; pyproject.toml only names the build back end and configures tools."""

import os
import sys
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

NAME = "humanoid_dynamics"

KEYWORDS = [
    *(
        "robotics",
        "humanoid",
        "biped",
        "inverse dynamics",
        "contact forces",
        "whole-body control",
        "motion retargeting",
    ),
    *("teleoperation", "state estimation", "simulation", "closed chains", "URDF", "ROS", "ROS 2"),
]
CLASSIFIERS = [
    "Development Status :: 4 - Beta",
    "Environment :: Console",
    "Intended Audience :: Developers",
    "Intended Audience :: Science/Research",
    "License :: OSI Approved :: Apache Software License",
    "Operating System :: POSIX :: Linux",
    *(f"Programming Language :: Python :: 3.{minor}" for minor in (10, 11, 12, 13)),
    "Topic :: Scientific/Engineering :: Physics",
    "Typing :: Typed",
]

# The ROS wheels exist for this platform alone; a real ROS installation brings its own.
WHEELS = '; sys_platform == "linux" and platform_machine == "x86_64"'

CORE = [
    "numpy>=1.26",
    "scipy>=1.11",
    "pin>=4.1",
    "numba>=0.61,<0.69",  # tested with 0.61.2 and 0.68.1
    "lxml",
    "pyyaml",
    "typer>=0.9",
    "rich",
    "xacro>=2",
]

EXTRAS = {
    "ros": [
        "ros-jazzy-rclpy[fastrtps]==7.1.6" + WHEELS,
        "ros-jazzy-sensor-msgs==5.3.6" + WHEELS,
        "ros-jazzy-trajectory-msgs==5.3.6" + WHEELS,
        "ros-jazzy-visualization-msgs==5.3.6" + WHEELS,
        "ros-jazzy-diagnostic-msgs==5.3.6" + WHEELS,
        "ros-jazzy-nav-msgs==5.3.6" + WHEELS,
        "ros-jazzy-std-srvs==5.3.6" + WHEELS,
    ],
    "viewer": ["viser>=1.0"],
    "robots": ["example-robot-data"],
    "plot": ["matplotlib"],
    "bags": ["rosbags>=0.11"],
    "batch": ["distributed>=2024.2"],
    "bench": ["mujoco==3.17.0", "onnxruntime", "daqp>=0.10.3,<0.11"],
    "docs": ["sphinx>=7.3", "myst-parser>=3", "furo"],
    "test": [
        *(
            "pytest>=7.4",
            "daqp>=0.10.3,<0.11",
            "pytest-xdist",
            "pytest-timeout",
            "hypothesis",
            "onnx",
            "sympy",
            "urchin",
            "yourdfpy>=0.0.56",
            "selenium>=4.11",
        ),
        *("mcap", "mcap-ros2-support"),
    ],
    # numpy brings the types that mypy reads, so it stays as it is checked.
    "dev": ["ruff==0.17.5", "mypy==2.4.1", "numpy<2.6", "import-linter>=2.5", "types-PyYAML"],
}
EXTRAS["dev"] = EXTRAS["test"] + EXTRAS["dev"]
EXTRAS["all"] = sorted({requirement for group in EXTRAS.values() for requirement in group})

COMMANDS = [
    "humanoid-dynamics = humanoid_dynamics.cli:main",
    *(
        f"{node} = humanoid_dynamics.nodes.programs:{node}"
        for node in (
            *("simulator", "state_estimator", "inverse_dynamics", "effort_guard"),
            "motion_player",
            *("dynamics_filter", "monitor", "viewer", "snake_driver", "recorder", "bag_player"),
        )
    ),
]


STUBS = sorted(
    os.path.relpath(path, NAME) for path in glob(NAME + "/**/*.pyi", recursive=True)
)  # public names of each package


def resources(folder):
    """List the files of a folder that belong to the product, not the scripts that generate them."""
    paths = (
        os.path.join(path, name)
        for path, _, names in sorted(os.walk(folder))
        for name in sorted(names)
    )
    return [
        p
        for p in paths
        if not os.path.basename(p).startswith(".")
        and (p.endswith(".launch.py") or not p.endswith((".py", ".pyc")))
    ]


def share(folder):
    """Give each file of a folder its place below share/humanoid_dynamics, where ros2 looks."""
    return [
        (os.path.join("share", NAME, os.path.dirname(path)), [path]) for path in resources(folder)
    ]


# colcon puts commands into lib/humanoid_dynamics, where ros2 run looks; pip puts them into bin, so its wheel carries forwarders.
forwarders = [("lib/" + NAME, sorted(glob("scripts/*")))] if "bdist_wheel" in sys.argv else []

setup(
    name=NAME,
    version="0.1.0",
    description="Dynamics of humanoids: torques with physically right contact forces, at kilohertz, from a URDF alone",
    long_description=(Path(__file__).resolve().parent / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    keywords=KEYWORDS,
    classifiers=CLASSIFIERS,
    author="humanoid_dynamics maintainers",
    author_email="maintainers@humanoid-dynamics.example",
    maintainer="humanoid_dynamics maintainers",
    maintainer_email="maintainers@humanoid-dynamics.example",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.10",
    packages=find_packages(include=[NAME, NAME + ".*"]),
    package_data={NAME: ["py.typed", *STUBS, *resources("urdf"), *resources("config")]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/" + NAME]),
        ("share/" + NAME, ["package.xml"]),
        *share("launch"),
        *share("config"),
        *share("urdf"),
        *forwarders,
    ],
    install_requires=CORE,
    extras_require=EXTRAS,
    entry_points={"console_scripts": COMMANDS},
    zip_safe=False,
)
