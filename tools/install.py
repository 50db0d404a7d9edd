# SPDX-License-Identifier: Apache-2.0
"""Install requirements into a virtual environment: with uv where it can be had, else with pip, by the settings of pip.

    python tools/install.py ENVIRONMENT ARGUMENT...     the arguments are those of pip install

Needs nothing but the standard library.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

UNREACHABLE = "The package index cannot be reached. Check the network, HTTPS_PROXY, or name a mirror with PIP_INDEX_URL."

# What a failed installation says, and what to do about it.
ADVICE = (
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate",
        "A certificate was refused. Behind a proxy that signs its own, point PIP_CERT at its certificate.",
    ),
    (
        r"Failed to establish a new connection|Connection ?(refused|reset|error)|ConnectTimeout|timed out|ProxyError"
        r"|(Temporary failure|failure) in name resolution|Name or service not known|Network is unreachable|dns error",
        UNREACHABLE,
    ),
    (
        r"command '?\S*(gcc|cc|c\+\+|clang)'? failed|No such file or directory: '(gcc|cc|c\+\+)'|Python\.h",
        "A package had to be compiled. Install a C/C++ compiler and the Python headers (apt install build-essential python3-dev).",
    ),
    (
        r"No space left on device",
        "The disk is full: about 2.5 GB are needed.",
    ),
)


def say(text: str) -> None:
    """Print one line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def advise(output: str) -> str:
    """Return what to do about a failed installation, or an empty string where nothing is known."""
    return next(
        (advice for pattern, advice in ADVICE if re.search(pattern, output, re.IGNORECASE)), ""
    )


def give_up(what: str, output: str) -> None:
    """End with the last lines of the failed command and, where known, its remedy."""
    told = [
        line
        for line in output.splitlines()
        if line.strip() and not re.match(r"\s*(WARNING: (Retrying|Location)|INFO|\[notice)", line)
    ]
    tail = "\n".join("  " + line for line in told[-8:])
    sys.exit("\n".join(line for line in (what, tail, advise(output)) if line))


def run(command: list[str], env: dict[str, str] | None = None) -> tuple[bool, str]:
    """Run a command silently; return whether it succeeded and all it printed."""
    done = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode == 0, done.stdout


def pip_settings(python: Path) -> dict[str, str]:
    """Read pip's settings from its files and from PIP_* variables, which win."""
    settings: dict[str, tuple[int, str]] = {}
    rank = {"global": 0, "install": 1, ":env:": 2}
    _, output = run([str(python), "-m", "pip", "config", "list"])
    for line in output.splitlines():
        match = re.fullmatch(r"(global|install|:env:)\.([a-z-]+)=('.*'|\".*\")", line)
        if match and rank[match[1]] >= settings.get(match[2], (-1, ""))[0]:
            settings[match[2]] = (rank[match[1]], str(ast.literal_eval(match[3])))
    return {name: value for name, (_, value) in settings.items()}


def uv_environment(pip: dict[str, str]) -> dict[str, str]:
    """Tell uv what pip was told: indexes, links, certificates, proxy. Variables of uv's own that are set already stay."""
    wanted = {
        "UV_SYSTEM_CERTS": "1",
        "UV_INDEX_STRATEGY": "unsafe-best-match"
        if pip.get("extra-index-url")
        else "",  # as pip does
        "UV_DEFAULT_INDEX": pip.get("index-url", ""),
        "UV_INDEX": " ".join(pip.get("extra-index-url", "").split()),
        "UV_FIND_LINKS": ",".join(pip.get("find-links", "").split()),
        "UV_INSECURE_HOST": " ".join(pip.get("trusted-host", "").split()),
        "UV_CONSTRAINT": " ".join(pip.get("constraint", "").split()),
        "UV_NO_INDEX": "1" if pip.get("no-index", "").lower() in {"1", "true", "yes", "on"} else "",
        "UV_HTTP_TIMEOUT": pip.get("timeout", pip.get("default-timeout", "")),
        "SSL_CERT_FILE": pip.get("cert", ""),
        "ALL_PROXY": pip.get("proxy", ""),
    }
    return {name: value for name, value in wanted.items() if value} | dict(os.environ)


def install_with_uv(python: Path, arguments: list[str]) -> bool:
    """Install with uv, itself installed by pip; return False where pip has to do all.

    As pip does, it compiles all modules: where Python keeps no byte code, every program would else do so every time it starts.
    """
    had, output = run([str(python), "-m", "pip", "install", "--quiet", "--retries", "1", "uv"])
    settings = pip_settings(python)
    if not had:
        elsewhere = settings.get("extra-index-url") or settings.get("find-links")
        if advise(output) == UNREACHABLE and not elsewhere:
            give_up("Nothing can be downloaded:", output)
        return False
    command = [
        str(python.with_name("uv")),
        "pip",
        "install",
        "--compile-bytecode",
        "--python",
        str(python),
        *arguments,
    ]
    done, output = run(command, uv_environment(settings))
    if not done and advise(output) == UNREACHABLE:  # what was downloaded before may do
        done, output = run([*command, "--offline"], uv_environment(settings))
    return done


def install(environment: Path, arguments: list[str]) -> str:
    """Install and return the name of the tool that did it; end the program with a reason where none can."""
    python = environment / "bin" / "python"
    if install_with_uv(python, arguments):
        return "uv"
    say("        uv cannot do it here; pip takes some minutes ...")
    done, output = run([str(python), "-m", "pip", "install", "--retries", "2", *arguments])
    if not done:
        give_up("The packages could not be installed:", output)
    return "pip"


if __name__ == "__main__":
    install(Path(sys.argv[1]), sys.argv[2:])
