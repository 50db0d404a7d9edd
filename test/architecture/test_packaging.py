# SPDX-License-Identifier: Apache-2.0
"""One package, described twice: what setup.py tells pip and what package.xml tells rosdep are the same."""

import re
import runpy
import stat
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]

# The rosdep key or ROS package that brings each of the others.
ROSDEP = {
    "lxml": "python3-lxml",
    "numba": "python3-numba",
    "numpy": "python3-numpy",
    "pin": "pinocchio",
    "pyyaml": "python3-yaml",
    "rich": "python3-rich",
    "scipy": "python3-scipy",
    "typer": "python3-typer",
    "xacro": "xacro",
}


def read_setup(command):
    """Run setup.py as the command would and return what it passes to setup()."""
    passed = {}
    stand_in = SimpleNamespace(setup=passed.update, find_packages=lambda **_: [])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "setuptools", stand_in)
        patch.setattr(sys, "argv", ["setup.py", command])
        patch.chdir(ROOT)
        runpy.run_path("setup.py")
    return passed


@pytest.fixture(scope="module")
def setup():
    return read_setup("install")


@pytest.fixture(scope="module")
def manifest():
    return ElementTree.parse(ROOT / "package.xml").getroot()


def command_names(setup):
    return {
        command.partition("=")[0].strip() for command in setup["entry_points"]["console_scripts"]
    }


def installed_files(setup):
    return {f"{place}/{Path(path).name}" for place, paths in setup["data_files"] for path in paths}


@pytest.mark.parametrize(
    ("field", "tag"),
    [
        ("name", "name"),
        ("version", "version"),
        ("license", "license"),
        ("description", "description"),
        ("maintainer", "maintainer"),
    ],
)
def test_setup_and_package_xml_agree(setup, manifest, field, tag):
    assert manifest.findtext(tag).rstrip(".") == setup[field]


def test_maintainer_has_one_address(setup, manifest):
    assert manifest.find("maintainer").get("email") == setup["maintainer_email"]


def test_every_requirement_has_a_rosdep_key(setup, manifest):
    names = [
        re.match(r"[\w.-]+", requirement).group().lower()
        for requirement in setup["install_requires"]
    ]
    depends = {
        element.text for element in manifest.iter() if element.tag in {"depend", "exec_depend"}
    }
    assert {name: ROSDEP.get(name) for name in names if ROSDEP.get(name) not in depends} == {}


def test_rosdep_installs_without_pip(manifest):
    keys = [element.text for element in manifest.iter() if element.tag.endswith("depend")]
    assert [key for key in keys if key.endswith("-pip")] == []


def test_numba_has_a_tested_range(setup):
    from numba import __version__

    wanted = next(each for each in setup["install_requires"] if each.startswith("numba"))
    low, high = re.fullmatch(r"numba>=0\.(\d+),<0\.(\d+)", wanted).groups()
    assert int(low) <= int(__version__.split(".")[1]) < int(high)


def test_ros_is_an_extra_and_only_where_its_wheels_exist(setup):
    assert not [
        requirement for requirement in setup["install_requires"] if requirement.startswith("ros-")
    ]
    wheels = [
        requirement
        for requirement in setup["extras_require"]["ros"]
        if requirement.startswith("ros-jazzy-")
    ]
    assert len(wheels) == len(setup["extras_require"]["ros"])
    assert all(
        'sys_platform == "linux"' in wheel and 'platform_machine == "x86_64"' in wheel
        for wheel in wheels
    )


def test_extra_all_holds_every_extra(setup):
    extras = setup["extras_require"]
    assert set(extras["all"]) == {
        requirement for name, group in extras.items() if name != "all" for requirement in group
    }


def test_each_command_has_a_forwarder_for_ros2_run(setup):
    scripts = {path.name: path for path in (ROOT / "scripts").iterdir()}
    assert set(scripts) == command_names(setup)
    for name, path in scripts.items():
        assert path.stat().st_mode & stat.S_IXUSR, f"{path} is not executable"
        assert path.read_text() == f'#!/bin/sh\nexec "$(dirname "$0")/../../bin/{name}" "$@"\n'


def test_forwarders_go_into_wheels_only(setup):
    forwarders = {f"lib/humanoid_dynamics/{name}" for name in command_names(setup)}
    assert forwarders <= installed_files(read_setup("bdist_wheel"))
    assert not forwarders & installed_files(setup)


def test_ros_finds_package_launch_and_resources(setup):
    installed = installed_files(setup)
    assert {
        "share/ament_index/resource_index/packages/humanoid_dynamics",
        "share/humanoid_dynamics/package.xml",
    } <= installed
    wanted = {
        f"share/humanoid_dynamics/{path.relative_to(ROOT)}"
        for pattern in ("launch/*.launch.py", "config/**/*.yaml", "urdf/**/*.urdf")
        for path in ROOT.glob(pattern)
    }
    assert wanted <= installed


@pytest.mark.parametrize("folder", ["urdf", "config"])
def test_resources_are_the_same_files_inside_the_package(folder):
    inside, outside = files("humanoid_dynamics") / folder, ROOT / folder
    if not outside.is_dir():
        pytest.skip(f"no {folder}/ yet")
    assert Path(str(inside)).resolve() == outside.resolve()


def test_package_carries_every_file_that_is_not_code(setup):
    package = ROOT / "humanoid_dynamics"
    listed = {package / pattern for pattern in setup["package_data"]["humanoid_dynamics"]}
    written = (
        path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    assert [path for path in written if path.suffix != ".py" and path not in listed] == []


def test_make_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.search(r"^\.PHONY: (help .*)$", makefile, re.MULTILINE).group(1).split()
    written = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
    done = subprocess.run(
        ["make", "--no-print-directory"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    listed = [line.split()[1] for line in done.stdout.splitlines()]
    assert sorted(targets) == sorted(written) == sorted(listed)
    assert all(len(line.split()) > 2 for line in done.stdout.splitlines())
