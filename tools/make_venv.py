"""Make .venv with this package (editable) and all its extras: uv where it can be had, else pip.

Runs under the Python that the environment is made from and uses nothing but its standard library.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"

# What a failed installation says, and what to do about it.
ADVICE = (
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate",
        "A certificate was refused. Behind a proxy that signs its own, point PIP_CERT at its certificate.",
    ),
    (
        r"Failed to establish a new connection|Connection ?(refused|reset|error)|ConnectTimeout|timed out|ProxyError"
        r"|(Temporary failure|failure) in name resolution|Name or service not known|Network is unreachable|dns error",
        "The package index cannot be reached. Check the network, HTTPS_PROXY, or name a mirror with PIP_INDEX_URL.",
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
    return next((advice for pattern, advice in ADVICE if re.search(pattern, output, re.IGNORECASE)), "")


def give_up(what: str, output: str) -> None:
    """End with the last lines of the failed command and, where known, its remedy."""
    tail = "\n".join("  " + line for line in output.strip().splitlines()[-12:])
    sys.exit("\n".join(line for line in (what, tail, advise(output)) if line))


def run(command: list[str], env: dict[str, str] | None = None) -> tuple[bool, str]:
    """Run a command silently; return whether it succeeded and all it printed."""
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode == 0, done.stdout


def environment_fits() -> bool:
    """Tell whether .venv runs, has pip, and was made in this folder by the version of Python that runs this."""
    pip = VENV / "bin" / "pip"
    if not PYTHON.exists() or not pip.exists() or str(VENV.absolute()) not in pip.read_text(encoding="utf-8"):
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
        sys.exit(f"{sys.executable} cannot make virtual environments: its venv module is not installed (apt install {name}-venv).")
    give_up(f"{sys.executable} -m venv failed:", output)


def pip_settings() -> dict[str, str]:
    """Read pip's settings from its files and from PIP_* variables, which win."""
    settings: dict[str, tuple[int, str]] = {}
    rank = {"global": 0, "install": 1, ":env:": 2}
    _, output = run([str(PYTHON), "-m", "pip", "config", "list"])
    for line in output.splitlines():
        match = re.fullmatch(r"(global|install|:env:)\.([a-z-]+)=('.*'|\".*\")", line)
        if match and rank[match[1]] >= settings.get(match[2], (-1, ""))[0]:
            settings[match[2]] = (rank[match[1]], str(ast.literal_eval(match[3])))
    return {name: value for name, (_, value) in settings.items()}


def uv_environment() -> dict[str, str]:
    """Tell uv what pip was told: indexes, links, certificates, proxy. Variables of uv's own that are set already stay."""
    pip = pip_settings()
    wanted = {
        "UV_SYSTEM_CERTS": "1",
        "UV_INDEX_STRATEGY": "unsafe-best-match" if pip.get("extra-index-url") else "",  # as pip does
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


def install_with_uv() -> bool:
    """Install everything with uv; return False where pip has to do it."""
    had, output = run([str(PYTHON), "-m", "pip", "install", "--quiet", "--retries", "1", "uv"])
    if not had:
        if "index cannot be reached" in advise(output):
            give_up("Nothing can be downloaded:", output)
        return False
    done, output = run([str(VENV / "bin" / "uv"), "pip", "install", "--python", str(PYTHON), "--editable", ".[all]"], uv_environment())
    return done


def install_with_pip() -> bool:
    """Install everything with pip, some minutes."""
    say("uv cannot do it here; pip takes some minutes ...")
    done, output = run([str(PYTHON), "-m", "pip", "install", "--editable", ".[all]"])
    if not done:
        give_up("The packages could not be installed:", output)
    return done


def main() -> None:
    """Make the environment, fill it, and say how long it took."""
    version = "{}.{}.{}".format(*sys.version_info[:3])
    say(f"setup   .venv from Python {version} ({sys.executable}) ...")
    start = time.monotonic()
    build_environment()
    tool = "uv" if install_with_uv() else "pip" if install_with_pip() else ""
    say(f"ok      all packages installed by {tool} in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
