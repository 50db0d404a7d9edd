# SPDX-License-Identifier: Apache-2.0
"""What a world refuses, and that what it refuses changes nothing."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError, UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.audit.setting import build_body, build_state
from humanoid_dynamics.simulation.contacts.moving_shapes import MovingShape
from humanoid_dynamics.simulation.contacts.terrain import (
    build_ball,
    build_plane,
    build_steps,
    build_terrain,
)
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.scenes.file import load_scene, read_scene
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.setup import HOOKS, Setup
from humanoid_dynamics.simulation.steps.joint_forces import Drive, build_drive
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
        World(
            build_body(1.0, (1.0,) * 3),
            Setup(terrain=(build_plane(),), points=(point,)),
            build_state(z=0.1),
        )


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
        ({"events": [{"at": 1.0}]}, "contains no event"),
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
    assert world.step(np.float32(1e-3)).status == "OK"
    assert type(world.t) is float


@pytest.mark.parametrize("second", [Cut("nope"), "right_hand", Break("nope")])
def test_a_batch_that_is_refused_changes_nothing(second):
    scene = load_scene("swing")
    world, same = build_world(scene), build_world(scene)
    events = [
        Cut("left_hand"),
        Connect(scene.connections[second]) if isinstance(second, str) else second,
    ]
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
    with pytest.raises(
        ShapeError,
        match=r"q: received joint 'left_knee' at 9, expected a start within its limits, .* to ",
    ):
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
        (
            {"crate": {"mass": 5, "box": [1, 1, 1], "xyz": [0, 0, 0.2]}},
            r"of link '.*' 0\.3 m inside the ground",
        ),
        (
            {
                "a": {"mass": 5, "box": [1, 1, 1], "xyz": [0, 0, 0.5]},
                "b": {"mass": 5, "box": [0.5, 0.5, 0.5], "xyz": [0.1, 0, 1.15]},
            },
            r"of link 'b/body' 0\.1 m inside a",
        ),
    ],
)
def test_a_body_that_starts_inside_another_is_refused(objects, said):
    scene = read_scene({"objects": objects, "terrain": [{"plane": {}}]})
    with pytest.raises(
        HumanoidDynamicsError, match=rf"^scene 'scene': q: received point .* {said}"
    ):
        build_world(scene)


def test_a_loop_that_starts_open_is_refused(human):
    far = pin.SE3(np.eye(3), np.array([0.0, 0.0, 9.0]))
    grip = build_loop(
        human, LoopClosure("grip", "spherical", "left_hand", pin.SE3.Identity(), "world", far)
    )
    with pytest.raises(
        ShapeError,
        match=r"row 'grip.* is open by .*, expected connections that are closed to 0.005",
    ):
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
    with pytest.raises(
        HumanoidDynamicsError,
        match=f"hook '{name}': between the phases .* call {what} in 'before_step' or 'after_step'",
    ):
        run(world, 10)


def test_hooks_around_a_step_may_change_the_world_and_none_may_step():
    world = drop_ball()
    world.add_hook("before_step", lambda world: world.push("body", (0.0, 0.0, 40.0), 1e-3))
    world.step(1e-3)
    assert world.v[2] == pytest.approx(-1.0 + (20.0 - 9.81) * 1e-3)
    world.add_hook("after_step", lambda world: world.step(1e-3))
    with pytest.raises(
        HumanoidDynamicsError, match="hook 'after_step': a hook cannot step the world that calls it"
    ):
        world.step(1e-3)


def test_a_world_that_stops_says_body_row_and_push():
    world = drop_ball()
    world.push("body", (1e18, 0.0, 0.0), 0.1)
    report = world.step(1e-3)
    assert report.status == "STOPPED"
    assert "ran away: body 'body', coordinate" in report.reason
    assert "push on 'body' with 1e+18 N and 0 N·m, at t = 0" in report.reason
    assert np.isfinite(world.q).all()


def run(world, steps):
    for _ in range(steps):
        world.step(1e-3)


def drop_ball():
    ball = TouchPoint("ball", "body", np.zeros(3), 0.1, 0.5, 0.5)
    setup = Setup(terrain=(build_plane(),), points=(ball,), compiled=False)
    return World(
        build_body(2.0, (0.01, 0.01, 0.01)),
        setup,
        build_state(z=0.104, v=(0.0, 0.0, -1.0, 0.0, 0.0, 0.0)),
    )


def build_nothing(**changes):
    """A world of one body, with one thing in its surroundings that makes no sense."""
    return World(
        build_body(1.0, (1.0,) * 3), Setup(**{"compiled": False} | changes), build_state(z=1.0)
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"terrain": build_plane()},
            r"terrain: received Plane .*, expected a tuple of planes, boxes and capsules",
        ),
        ({"terrain": (3,)}, r"an entry of terrain: received int 3, expected a tuple of planes"),
        (
            {"drive": 3},
            r"drive: received int 3, expected a Drive, as build_drive makes it, or None",
        ),
        ({"limits": 3}, r"limits: received int 3, expected True or False"),
        ({"compiled": "x"}, r"compiled: received str 'x', expected True, False or None"),
        ({"audit": None}, r"audit: received NoneType None, expected True or False"),
        ({"contact": 3}, r"contact: received int 3, expected one of friction, paper"),
        (
            {"contact": "frction"},
            r"no law of contact named 'frction'. Did you mean 'friction'\? Known: friction, paper",
        ),
        ({"passive": "hip"}, r"passive: received str 'hip', expected a tuple of names of motors"),
        (
            {"points": 4},
            r"points: received int 4, expected 'surfaces', 'body' or a tuple of TouchPoint",
        ),
        (
            {"shapes": (MovingShape("body", 5),)},
            r"shape on link 'body': received int 5, expected a box or a capsule",
        ),
        ({"gravity": "down"}, r"gravity: received str 'down', expected 3 numbers"),
        (
            {"points": (TouchPoint("p", 3, np.zeros(3)),)},
            r"link of a touch point: received int 3, expected a word",
        ),
    ],
)
def test_surroundings_of_the_wrong_kind_are_refused_by_name(changes, said):
    with pytest.raises(HumanoidDynamicsError, match=rf"^{said}"):
        build_nothing(**changes)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda world: World(3), "robot: received int 3, expected a robot, as load_robot makes it"),
        (lambda world: World(world.robot, 0), "setup: received int 0, expected a Setup, or None"),
        (
            lambda world: World(world.robot, state="x"),
            "state: received str 'x', expected a State, or None",
        ),
        (
            lambda world: World(world.robot, connections=[1]),
            "an entry of connections: received int 1, expected a list of constraint blocks",
        ),
        (
            lambda world: world.push([], (0, 0, 0), 0.1),
            r"link: received list \[\], expected the name of a link",
        ),
        (
            lambda world: world.push("body", (0, -1e300, 0), 0.1),
            "force: received -1e\\+300, expected at most 1e\\+100",
        ),
        (
            lambda world: world.push("body", 10**400, 0.1),
            "force: received int 10+, expected 3 numbers",
        ),
        (
            lambda world: world.step(1e-3, [10**400]),
            r"tau: received \[10+, expected 0 real numbers",
        ),
        (
            lambda world: world.apply(3),
            "events: received int 3, expected a list of Connect, Touch, Cut and Break",
        ),
        (
            lambda world: world.apply(["cut"]),
            "an entry of events: received str 'cut', expected a list of Connect",
        ),
        (
            lambda world: world.apply([Connect("grip")]),
            "loop of Connect: received str 'grip', expected a LoopClosure",
        ),
        (lambda world: world.apply([Cut([])]), r"name of Cut: received list \[\], expected a name"),
        (lambda world: world.add_hook([], print), r"no hook named \[\]. Known: before_step"),
        (
            lambda world: world.add_hook("after_step", 3),
            "hook: received int 3, expected a function of the world",
        ),
        (lambda world: world.set_state(3), "state: received int 3, expected a State"),
        (
            lambda world: world.restore(3),
            "snapshot: received int 3, expected what keep has returned",
        ),
        (
            lambda world: build_plane(friction="x"),
            "friction: received str 'x', expected a number of at least zero",
        ),
        (lambda world: build_plane("high"), "height: received list .*, expected 1 numbers"),
        (lambda world: build_ball("big"), "radius: received str 'big', expected a positive length"),
        (
            lambda world: build_steps(2.5),
            "count: received float 2.5, expected a whole number of at least zero",
        ),
        (
            lambda world: build_steps(2, run="x"),
            "run: received str 'x', expected a positive length",
        ),
        (
            lambda world: build_terrain([build_plane(name=3)]),
            "terrain: received a shape named 3, expected words as names",
        ),
        (
            lambda world: build_drive(world.robot, "stiff", 1.0),
            "kp: received str 'stiff', expected a number, or motor -> number",
        ),
        (
            lambda world: build_drive(hd.load_robot("human28"), {"left_knee": "x"}, 1.0),
            "kp.left_knee: received str 'x', expected a finite",
        ),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused_in_a_sentence(call, said):
    with pytest.raises(HumanoidDynamicsError, match=rf"^{said}"):
        call(build_nothing())


def test_a_pilot_that_is_no_function_is_refused():
    world = build_nothing()
    world.pilot = 3
    with pytest.raises(
        ShapeError, match="pilot: received int 3, expected a function of the world, or None"
    ):
        world.step(1e-3)


INSIDE = {
    "big": {"mass": 5, "box": [0.3] * 3, "xyz": [0, 0, 1]},
    "small": {"mass": 1, "box": [0.2] * 3, "xyz": [0, 0, 1]},
}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"objects": INSIDE}, r"the middle of link 'big/body' 0\.1 m inside link 'small/body'"),
        (
            {
                "objects": {"small": INSIDE["small"]},
                "terrain": [{"box": {"size": [0.3] * 3, "xyz": [0, 0, 1]}}],
            },
            r"the middle of link 'body' 0\.15 m inside 'box",
        ),
        ({"figures": {"f": {}}}, r"figures\.f: contains no robot; expected `robot:`"),
    ],
)
def test_a_scene_with_a_body_wholly_inside_another_or_no_robot_is_refused(content, said):
    with pytest.raises(HumanoidDynamicsError, match=said):
        build_world(read_scene(content))


def test_what_a_connection_holds_may_be_inside():
    hold = {"peg": {"kind": "fixed", "a": {"link": "big/body"}, "b": {"link": "small/body"}}}
    assert build_world(read_scene({"objects": INSIDE, "connections": hold})).t == 0.0


def test_a_rectangle_of_no_size_is_refused():
    scene = {
        "objects": {"small": INSIDE["small"]},
        "connections": {"c": {"a": {"link": "body"}, "b": {"link": "world", "xyz": [0, 0, 1]}}},
    }
    watch = {"cut": "c", "link": "body", "plate": {"link": "world"}, "half": [-1, -1]}
    with pytest.raises(
        HumanoidDynamicsError,
        match=r"watches\[0\]\.half: \[-1\.0, -1\.0\], expected two positive lengths",
    ):
        read_scene({**scene, "watches": [watch]})
