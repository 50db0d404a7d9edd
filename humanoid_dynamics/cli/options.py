# SPDX-License-Identifier: Apache-2.0
"""Options that several verbs share."""

from typing import Annotated

import typer

RobotArgument = Annotated[
    str,
    typer.Argument(
        help="Catalogue name, or path of a URDF or xacro file; 'arm.xacro name:=value' passes arguments.",
        metavar="ROBOT",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
PlanOption = Annotated[
    bool, typer.Option("--json", help="Print the processes to run as JSON and exit.")
]
OriginOption = Annotated[
    list[str],
    typer.Option(
        "--origin",
        help="Additional accepted origin of the page, such as https://robot.example; may be repeated.",
    ),
]
ConfigOption = Annotated[
    str,
    typer.Option(
        "--config", help="Catalogue name, or YAML file with contact surfaces, loops and motors."
    ),
]
RootOption = Annotated[
    str,
    typer.Option("--root", help="Root joint: free_flyer, fixed or planar; detected if not given."),
]
JointMapOption = Annotated[
    str,
    typer.Option(
        "--joint-map", help="YAML file that maps columns to joints and lists unused columns."
    ),
]
FpsOption = Annotated[
    float,
    typer.Option(
        "--fps",
        min=0.0,
        help="Frames per second of a clip without times and rate [Hz]; 0 for one that has them.",
    ),
]
JointOrderOption = Annotated[
    str,
    typer.Option(
        "--joint-order",
        help="Joint order of files without joint names: g1_29, g1_23, g1_23_fixed_wrists, h1_19, h1_2_27, "
        "t1_21, t1_23, t1_29, robot (as in the URDF); those of G1 and robot with _breadth_first for Isaac Lab; "
        "or names between commas.",
    ),
]
