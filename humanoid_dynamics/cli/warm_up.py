# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics warm-up``: compile all kernels ahead of time."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from humanoid_dynamics.cli.options import JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.graphs.kernels import JOBS, ROBOT, KernelStatus, compile_jobs, find_jobs

JobArgument = Annotated[
    list[str],
    typer.Argument(
        help=f"Kernels to compile: {', '.join(job.name for job in JOBS)}; all if not given.",
        metavar="[JOB ...]",
    ),
]
RobotOption = Annotated[
    str,
    typer.Option(
        "--robot",
        help="Catalogue name, or path of a URDF or xacro file. Kernels fit nearly every robot; "
        "mimic joints and closed loops may add some.",
    ),
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics warm-up
  humanoid-dynamics warm-up controller filter --robot my_robot.urdf --json
"""


def warm_up(
    jobs: JobArgument = [],  # noqa: B006 - typer expects a list
    *,
    robot: RobotOption = ROBOT,
    as_json: JsonOption = False,
) -> None:
    """Compile the kernels of controller, filter, simulation and estimator, so that no command and no node waits for them.

    Kernels are compiled once per machine and version, in two processes, and kept on disk. Exit status 1 if a job failed.
    """
    with show_progress("compiling kernels") as bar:
        reports = compile_jobs(find_jobs(jobs), robot, lambda progress: bar.tell(progress.share))
    if as_json:
        facts = [{**asdict(report), "status": report.status.name} for report in reports]
        typer.echo(json.dumps({"robot": robot, "jobs": facts}, indent=2))
    else:
        rows = [
            (
                report.job,
                report.status.name,
                f"{report.compiled}",
                f"{report.loaded}",
                f"{report.seconds:.1f} s",
                report.reason,
            )
            for report in reports
        ]
        columns = ("kernels of", "status", "compiled", "loaded", "time", "reason")
        print_table(make_console(), f"kernels for {robot}", columns, rows)
    sys.exit(any(report.status is KernelStatus.FAILED for report in reports))
