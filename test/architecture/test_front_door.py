# SPDX-License-Identifier: Apache-2.0
"""Public names: each package states its own, loads them on first use, and documents go no deeper."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import humanoid_dynamics as hd

ROOT = Path(hd.__file__).parent
PROJECT = Path(__file__).parents[2]
ROOMS = sorted(
    ".".join(path.parent.relative_to(ROOT).parts)
    for pattern in ("*/__init__.py", "papers/*/__init__.py")
    for path in ROOT.glob(pattern)
)
PAGES = [
    PROJECT / "README.md",
    *sorted((PROJECT / "docs").glob("*.md")),
    *sorted((PROJECT / "examples").rglob("*.py")),
]
IMPORT = re.compile(r"(?:from|import)\s+humanoid_dynamics((?:\.\w+)*)")


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_every_public_name_of_a_package_is_there(room):
    if room in {"nodes", "viewer", "plotting"}:
        pytest.importorskip({"nodes": "rclpy", "viewer": "viser", "plotting": "matplotlib"}[room])
    module = import_module(f"humanoid_dynamics.{room}".rstrip("."))
    assert list(module.__all__) == sorted(set(module.__all__))
    assert all(getattr(module, name) is not None for name in module.__all__)
    assert set(module.__all__) <= set(dir(module))


def test_front_door_has_the_entries_of_every_job():
    jobs = "load_robot State inverse_dynamics InverseDynamics filter_clip load_clip DynamicsFilter Teleoperation Simulation Plane"
    assert set(f"{jobs} PdController plan_walk retarget check_clip Mechanism".split()) <= set(
        hd.__all__
    )


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'torques'"):
        hd.torques  # noqa: B018


def test_importing_packages_loads_no_numpy():
    rooms = ", ".join(f"humanoid_dynamics.{room}" for room in ROOMS)
    code = f"import sys, humanoid_dynamics, {rooms}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documents_and_examples_import_no_deeper_than_one_package(page):
    found = [match[1] for match in IMPORT.finditer(page.read_text(encoding="utf-8"))]
    assert not [each for each in found if each.count(".") > 1]


def test_procedures_of_a_paper_are_reached_by_one_import():
    papers = import_module("humanoid_dynamics.papers")
    assert papers.snake.SnakeModel.uniform(3).n == 3


def test_simulation_takes_terrain_and_controller():
    robot = hd.load_robot("human28")
    simulation = hd.Simulation(robot, terrain=hd.Plane(), controller=hd.PdController(3000.0, 60.0))
    for _ in range(20):
        assert simulation.step(1e-3).status == "OK"
    assert abs(simulation.q[2] - robot.posture[2]) < 1e-3


def test_walk_is_planned_by_steps_and_speed():
    robot = hd.load_robot("legs12")
    walk = hd.plan_walk(robot, steps=2, speed=0.1)
    assert walk.clip.q[-1, 0] > walk.clip.q[0, 0] + 0.02
