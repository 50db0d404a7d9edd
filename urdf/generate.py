# SPDX-License-Identifier: Apache-2.0
"""Write every bundled robot: its URDF beside this script and its YAML in config/robots.

``python urdf/generate.py`` writes the files; ``python urdf/generate.py --check`` writes nothing, exits 1 and names the files that differ.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from source.catalogue import build_files
from source.compare import same_text

URDF_FOLDER = Path(__file__).resolve().parent
YAML_FOLDER = URDF_FOLDER.parent / "config" / "robots"


def main(arguments: Sequence[str]) -> int:
    """Write or check the files.

    Returns:
        Exit code: 1 where ``--check`` found a difference.
    """
    parser = argparse.ArgumentParser(
        description="Write the bundled robots, or check that they are what this script writes."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 and name the files that differ"
    )
    check = parser.parse_args(arguments).check
    files = {
        (URDF_FOLDER if name.endswith(".urdf") else YAML_FOLDER) / name: text
        for name, text in build_files().items()
    }
    if not check:
        YAML_FOLDER.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
        return 0
    differing = [
        path
        for path, text in files.items()
        if not (path.is_file() and same_text(path.read_text(encoding="utf-8"), text))
    ]
    differing += sorted(set(URDF_FOLDER.glob("*.urdf")) - set(files))
    for path in differing:
        sys.stdout.write(
            f"{path.relative_to(URDF_FOLDER.parent)} is not what urdf/generate.py writes\n"
        )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
