# SPDX-License-Identifier: Apache-2.0
"""Make .venv with this package (editable) and all its extras.

Runs under the Python that the environment is made from and uses nothing but its standard library.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path

from install import give_up, install, run, say

VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"


def environment_fits() -> bool:
    """Tell whether .venv runs, has pip, and was made in this folder by the version of Python that runs this."""
    pip = VENV / "bin" / "pip"
    if (
        not PYTHON.exists()
        or not pip.exists()
        or str(VENV.absolute()) not in pip.read_text(encoding="utf-8")
    ):
        return False
    fits, output = run([str(PYTHON), "-c", "import sys, pip; print(*sys.version_info[:3])"])
    return fits and output.split() == [str(number) for number in sys.version_info[:3]]


def build_environment() -> None:
    """Make an empty .venv, unless one that fits is there."""
    if environment_fits():
        return
    shutil.rmtree(VENV, ignore_errors=True)
    made, output = run([sys.executable, "-m", "venv", str(VENV)])
    if made:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    if re.search(r"ensurepip|No module named '?venv", output):
        name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        sys.exit(
            f"{sys.executable} cannot make virtual environments: its venv module is not installed (apt install {name}-venv)."
        )
    give_up(f"{sys.executable} -m venv failed:", output)


def main() -> None:
    """Make the environment, fill it, and say how long it took."""
    version = "{}.{}.{}".format(*sys.version_info[:3])
    say(f"setup   .venv from Python {version} ({sys.executable}) ...")
    start = time.monotonic()
    build_environment()
    # With a path instead of an import hook editors and type checkers find the package.
    tool = install(VENV, ["--config-settings", "editable_mode=compat", "--editable", ".[all]"])
    say(f"ok      all packages installed by {tool} in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
