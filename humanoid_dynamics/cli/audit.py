# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics audit``: motions with an exact answer, run in the world."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json

import typer
from rich.markup import escape

from humanoid_dynamics.cli.options import JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table

FAILED = 1
EXAMPLES = """\b
Examples:
  humanoid-dynamics audit
  humanoid-dynamics audit --json
"""


def audit(as_json: JsonOption = False) -> None:
    """Compare simulated motions with their exact solutions; the exit status is 1 if one fails."""
    from humanoid_dynamics.simulation.audit.motions import run_audit

    with show_progress("auditing") as bar:
        findings = run_audit(bar.tell)
    passed = all(finding.passed for finding in findings)
    if as_json:
        rows = [
            {
                "case": finding.case,
                "quantity": finding.quantity,
                "measured": finding.measured,
                "exact": finding.exact,
                "error": finding.error,
                "tolerance": finding.tolerance,
                "passed": finding.passed,
            }
            for finding in findings
        ]
        typer.echo(json.dumps({"passed": passed, "findings": rows}, indent=2))
    else:
        table = [
            (
                escape(f"{finding.case}: {finding.quantity}"),
                f"{finding.measured:.7g}",
                f"{finding.exact:.7g}",
                f"{finding.error:.1e}",
                f"{finding.tolerance:.0e}",
                "pass" if finding.passed else "FAIL",
            )
            for finding in findings
        ]
        console = make_console()
        print_table(
            console,
            "audit of the world, steps of 1 ms",
            ("what", "measured", "exact", "error", "allowed", ""),
            table,
        )
    if not passed:
        raise typer.Exit(FAILED)
