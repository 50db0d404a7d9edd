"""What a world refuses, and that what it refuses changes nothing."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError, UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.audit.setting import build_body, build_state
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.scenes.file import load_scene, read_scene
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.setup import HOOKS, Setup
from humanoid_dynamics.simulation.steps.joint_forces import Drive
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Break, Connect, Cut

NAN = float("nan")


@pytest.fixture(scope="module")
def human():
    return hd.load_robot("human28")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"friction": NAN}, "friction of touch point 'p'"),
        ({"friction": -1.0}, "friction of touch point 'p'"),
        ({"restitution": 5.0}, "restitution of touch point 'p'"),
        ({"restitution": NAN}, "restitution of touch point 'p'"),
        ({"radius": -0.1}, "radius of touch point 'p'"),
        ({"p_L": np.full(3, NAN)}, "p_L of touch point 'p'"),
        ({"p_L": np.zeros(2)}, "p_L of touch point 'p'"),
    ],
)
def test_touch_points_that_make_no_sense_are_refused_by_name(changes, said):
    point = TouchPoint(**({"name": "p", "link": "body", "p_L": np.zeros(3)} | changes))
    with pytest.raises(ShapeError, match=said):
        World(build_body(1.0, (1.0,) * 3), Setup(terrain=(build_plane(),), points=(point,)), build_state(z=0.1))


def test_drives_that_do_not_fit_are_refused_by_name(human):
    zero, negative = np.zeros(human.nv), np.zeros(human.nv)
    negative[9] = -1.0
    for drive, said in (
        (Drive(np.zeros(3), zero, human.posture), "drive.kp"),
        (Drive(zero, np.full(human.nv, NAN), human.posture), "drive.kd"),
        (Drive(negative, zero, human.posture), human.coordinates[9]),
        (Drive(zero, zero, zero[:4]), "drive.q_ref"),
    ):
        with pytest.raises(ShapeError, match=said):
            World(human, Setup(drive=drive))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"terrain": [{"steps": {"count": 2.7}}]}, "steps.count"),
        ({"events": [{"at": 1.0}]}, "nothing happen"),
    ],
)
def test_scenes_that_say_less_than_they_mean_are_refused(changes, said):
    with pytest.raises(HumanoidDynamicsError, match=said):
        read_scene({"objects": {"crate": {"mass": 5.0, "box": [0.2, 0.2, 0.2]}}, **changes})


def test_a_crate_needs_no_soles():
    scene = read_scene({"objects": {"crate": {"mass": 5.0, "box": [0.2, 0.2, 0.2]}}})
    assert not any("foot" in warning for warning in build_world(scene).robot.warnings)


def test_time_stays_a_double_number_after_a_step_of_another_kind():
    world = World(build_body(1.0, (1.0,) * 3), Setup(), build_state(z=1.0))
    assert world.step(np.float32(1e-3)).status == "ok"
    assert type(world.t) is float


@pytest.mark.parametrize("second", [Cut("nope"), "right_hand", Break("nope")])
def test_a_batch_that_is_refused_changes_nothing(second):
    scene = load_scene("swing")
    world, same = build_world(scene), build_world(scene)
    events = [Cut("left_hand"), Connect(scene.connections[second]) if isinstance(second, str) else second]
    before = tuple(world.mechanism.constraints)
    with pytest.raises(HumanoidDynamicsError):
        world.apply(events)
    assert tuple(world.mechanism.constraints) == before
    world.step(1e-3)
    same.step(1e-3)
    np.testing.assert_array_equal(world.q, same.q)
    np.testing.assert_array_equal(world.lam, same.lam)


def test_a_world_does_not_go_back_to_another_structure():
    world = build_world(load_scene("swing"))
    kept = world.keep()
    with pytest.raises(UnknownNameError):
        world.apply([Cut("nope")])
    world.step(1e-3)
    world.restore(kept)
    world.apply([Cut("left_hand")])
    q = world.q.copy()
    with pytest.raises(HumanoidDynamicsError, match="the structure has changed"):
        world.restore(kept)
    np.testing.assert_array_equal(world.q, q)


def test_torques_are_copied(human):
    world, tau = World(human, Setup(compiled=False)), np.zeros(len(human.actuated))
    seen = tau.view()
    seen.flags.writeable = False
    world.step(1e-3, seen)
    tau[0] = 7.0
    assert world.tau[0] == 0.0
    world.step(1e-3, seen)
    assert world.tau[0] == 7.0


def test_a_joint_that_starts_beyond_its_limits_is_refused(human):
    q = np.array(human.posture)
    knee = next(joint for joint in human.joints if joint.name == "left_knee")
    q[knee.q.start] = 9.0
    with pytest.raises(ShapeError, match=r"q: received joint 'left_knee' at 9, expected a start within its limits, .* to "):
        World(human, state=hd.State(q, np.zeros(human.nv)))
    world = World(human)
    before = world.q.copy()
    with pytest.raises(ShapeError, match="left_knee"):
        world.set_state(hd.State(q, np.zeros(human.nv)))
    np.testing.assert_array_equal(world.q, before)
    assert World(human, Setup(limits=False), hd.State(q, np.zeros(human.nv))).q[knee.q.start] == 9.0


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ({"crate": {"mass": 5, "box": [1, 1, 1], "xyz": [0, 0, 0.2]}}, r"of link '.*' 0\.3 m inside the ground"),
        (
            {"a": {"mass": 5, "box": [1, 1, 1], "xyz": [0, 0, 0.5]}, "b": {"mass": 5, "box": [0.5, 0.5, 0.5], "xyz": [0.1, 0, 1.15]}},
            r"of link 'b/body' 0\.1 m inside a",
        ),
    ],
)
def test_a_body_that_starts_inside_another_is_refused(objects, said):
    scene = read_scene({"objects": objects, "terrain": [{"plane": {}}]})
    with pytest.raises(HumanoidDynamicsError, match=rf"^scene 'scene': q: received point .* {said}"):
        build_world(scene)


def test_a_loop_that_starts_open_is_refused(human):
    far = pin.SE3(np.eye(3), np.array([0.0, 0.0, 9.0]))
    grip = build_loop(human, LoopClosure("grip", "spherical", "left_hand", pin.SE3.Identity(), "world", far))
    with pytest.raises(ShapeError, match=r"row 'grip.* is open by .*, expected connections that are closed to 0.005"):
        World(human, connections=[grip])


@pytest.mark.parametrize("name", HOOKS[1:-1])
@pytest.mark.parametrize("what", ["apply", "push", "set_velocity", "set_state", "restore"])
def test_a_hook_between_the_phases_changes_nothing(name, what):
    world = drop_ball()
    kept = world.keep()
    calls = {
        "apply": lambda world: world.apply([]),
        "push": lambda world: world.push("body", (1.0, 0.0, 0.0), 0.1),
        "set_velocity": lambda world: world.set_velocity(np.zeros(6)),
        "set_state": lambda world: world.set_state(world.state),
        "restore": lambda world: world.restore(kept),
    }
    world.add_hook(name, calls[what])
    with pytest.raises(HumanoidDynamicsError, match=f"hook '{name}': between the phases .* call {what} in 'before_step' or 'after_step'"):
        run(world, 10)


def test_hooks_around_a_step_may_change_the_world_and_none_may_step():
    world = drop_ball()
    world.add_hook("before_step", lambda world: world.push("body", (0.0, 0.0, 40.0), 1e-3))
    world.step(1e-3)
    assert world.v[2] == pytest.approx(-1.0 + (20.0 - 9.81) * 1e-3)
    world.add_hook("after_step", lambda world: world.step(1e-3))
    with pytest.raises(HumanoidDynamicsError, match="hook 'after_step': a hook cannot step the world that calls it"):
        world.step(1e-3)


def test_a_world_that_stops_says_body_row_and_push():
    world = drop_ball()
    world.push("body", (1e18, 0.0, 0.0), 0.1)
    report = world.step(1e-3)
    assert report.status == "stopped"
    assert "ran away: body 'body', coordinate" in report.reason
    assert "push on 'body' with 1e+18 N and 0 N·m, at t = 0" in report.reason
    assert np.isfinite(world.q).all()


def run(world, steps):
    for _ in range(steps):
        world.step(1e-3)


def drop_ball():
    ball = TouchPoint("ball", "body", np.zeros(3), 0.1, 0.5, 0.5)
    setup = Setup(terrain=(build_plane(),), points=(ball,), compiled=False)
    return World(build_body(2.0, (0.01, 0.01, 0.01)), setup, build_state(z=0.104, v=(0.0, 0.0, -1.0, 0.0, 0.0, 0.0)))
