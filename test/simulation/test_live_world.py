# SPDX-License-Identifier: Apache-2.0
"""A world driven from outside: what its surfaces feel, and commands that are none."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.live import LiveWorld
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.compiled import compile_step
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.compiling import compile_kernel


@pytest.mark.parametrize("compiled", [False, True])
def test_surfaces_feel_the_forces_on_their_points(compiled):
    """Against the sum over all points, moment and all, in the axes of each surface."""
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    robot = hd.load_robot("human28")
    live = LiveWorld.of_robot(robot, compiled=compiled)
    tau = hd.inverse_dynamics(robot, hd.State.at_rest(robot), np.zeros(robot.nv)).tau
    live.command(robot.actuated, tau)
    live.push("torso", np.array([30.0, 20.0, 0.0]), np.zeros(3), 1.0)
    live.advance(1e-3, 60)
    felt = {wrench.surface: wrench for wrench in live.feel()}
    data = robot.data()
    import pinocchio as pin

    pin.framesForwardKinematics(robot.model, data, live.world.q)
    for name in robot.stance:
        X = data.oMf[robot.surface(name).frame]
        points = [
            point for point in live.world.contact_forces() if point.point.startswith(f"{name}.")
        ]
        force = sum((point.force for point in points), np.zeros(3))
        moment = sum(
            (np.cross(point.place - X.translation, point.force) for point in points), np.zeros(3)
        )
        np.testing.assert_allclose(X.rotation @ felt[name].force, force, atol=1e-9)
        np.testing.assert_allclose(X.rotation @ felt[name].moment, moment, atol=1e-9)
        assert force[2] > 100.0
    assert not felt["left_palm"].force.any()


def test_it_stands_still_until_a_command_that_is_not_zero():
    robot = hd.load_robot("human28")
    live = LiveWorld.of_robot(robot)
    live.advance(1e-3, 5)
    assert live.command(robot.actuated, np.zeros(28))
    live.advance(1e-3, 5)
    assert live.world.t == 0.0
    assert live.command(robot.actuated, np.ones(28))
    live.advance(1e-3, 5)
    assert live.world.t == pytest.approx(5e-3)
    live.reset()
    assert live.world.t == 0.0
    assert not live.begun


@pytest.mark.parametrize(
    ("names", "effort"),
    [(["wing"], [1.0]), (["neck_yaw"], [np.nan]), (["neck_yaw"], [1.0, 2.0]), ([], [])],
)
def test_commands_that_are_none_are_refused_with_the_reason(names, effort):
    live = LiveWorld.of_robot(hd.load_robot("human28"))
    assert not live.command(names, np.array(effort))
    assert live.fault
    assert not live.begun


def test_connections_of_a_scene_open_and_close():
    live = LiveWorld.of_scene(load_scene("highbar"))
    name = next(iter(live.connections))
    before = live.world.count_freedoms()
    live.connect(name, False)
    assert live.world.count_freedoms() > before
    live.connect(name, True)
    assert live.world.count_freedoms() == before
    with pytest.raises(UnknownNameError):
        live.connect("nothing", True)


@pytest.mark.parametrize("contact", ["friction", "paper"])
def test_once_warm_nothing_is_compiled_any_more(contact):
    """Not at impacts, pushes, lift-off, nor where something is disturbed: a step that waits for a compiler takes seconds."""
    event = pytest.importorskip("numba.core.event", reason="numba is not installed")
    compile_step.cache_clear()
    compile_kernel.cache_clear()
    robot = hd.load_robot("human28")
    live = LiveWorld(
        lambda: World(robot, Setup(terrain=(build_plane(),), compiled=True, contact=contact))
    )
    live.warm_up()
    tau = hd.inverse_dynamics(robot, hd.State.at_rest(robot), np.zeros(robot.nv)).tau
    live.command(robot.actuated, tau)
    with event.install_recorder("numba:compiler_lock") as compiled:
        live.push("pelvis", np.array([40.0, 0.0, 900.0]), np.zeros(3), 0.2)
        live.advance(1e-3, 200)
        live.release()
        live.advance(1e-3, 600)
        live.feel()
    assert live.world.touching
    assert not compiled.buffer
