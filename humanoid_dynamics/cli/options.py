"""Options that several verbs share."""

from typing import Annotated

import typer

RobotArgument = Annotated[
    str, typer.Argument(help="Catalogue name, or path of a URDF or xacro file; 'arm.xacro name:=value' passes arguments.", metavar="ROBOT")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON instead of tables.")]
PlanOption = Annotated[bool, typer.Option("--json", help="Write as JSON what would be run, and run nothing.")]
OriginOption = Annotated[
    list[str],
    typer.Option("--origin", help="Another origin under which the page is reached, such as https://robot.example; may be repeated."),
]
ConfigOption = Annotated[str, typer.Option("--config", help="Catalogue name, or YAML file that says what the URDF cannot.")]
RootOption = Annotated[str, typer.Option("--root", help="free_flyer, fixed or planar; by itself where not given.")]
