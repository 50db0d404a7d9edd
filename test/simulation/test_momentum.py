# SPDX-License-Identifier: Apache-2.0
"""The audit of momentum and of impacts: it passes where the physics is right, in every way a step is taken, and fails where it is not."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.audit.setting import build_body, build_state, write_link
from humanoid_dynamics.simulation.books import Books, measure_momentum
from humanoid_dynamics.simulation.contacts import friction
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.scenes.file import read_scene
from humanoid_dynamics.simulation.scenes.judge import judge_run
from humanoid_dynamics.simulation.scenes.run import Summary, build_world
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps import fine_motion
from humanoid_dynamics.simulation.steps.body_table import list_bodies
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.steps.motion_kernel import measure_motion
from humanoid_dynamics.simulation.steps.rows import AUDIT, MOMENTUM, NUMBERS, SPIN
from humanoid_dynamics.simulation.steps.tables import list_parents
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Connect, Cut

LIMBS = "".join(
    write_link(name, mass, (0.02, 0.03, 0.01), (0.0, 0.02, -0.2))
    for name, mass in (("upper", 2.0), ("lower", 1.0))
)
ARM = f"""<robot name="arm"><link name="base"/>{LIMBS}
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="50" velocity="20"/><dynamics damping="0.1"/></joint>
<joint name="twist" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -0.4"/><axis xyz="1 0 0.5"/></joint>
</robot>"""
TIP = TouchPoint("tip", "lower", np.array([0.0, 0.0, -0.4]), 0.02, 0.4, 0.3)


def build_arm(terrain=(), **options):
    """Return an arm on a base that does not move, which swings down."""
    arm = hd.load_robot(ARM, root="fixed")
    world = World(
        arm,
        Setup(terrain=terrain, points=(TIP,), **{"compiled": False, **options}),
        hd.State([1.0, 0.6, 0.8], [-1.0, 2.0]),
    )
    world.push("lower", (3.0, -1.0, 2.0), 0.05)
    return world


@pytest.fixture(scope="module")
def human():
    return hd.load_robot("human28")


def build(human, *, hooked=False, **options):
    options = {"compiled": False, "drive": build_drive(human, 3000.0, 60.0), **options}
    world = World(human, Setup(terrain=(build_plane(),), **options))
    if hooked:  # a step goes through its phases where somebody looks in
        world.add_hook("after_forces", lambda _: None)
    return world


def run(world, steps, summary=None, dt=1e-3):
    summary = summary or Summary()
    for _ in range(steps):
        summary.enter(world.step(dt))
    return summary


def failed(summary, world):
    return {check.name for check in judge_run(summary, world) if not check.passed}


def drop(e=0.5, **options):
    ball = TouchPoint("ball", "body", np.zeros(3), 0.1, 0.5, e)
    setup = Setup(terrain=(build_plane(),), points=(ball,), compiled=False, **options)
    return World(
        build_body(2.0, (0.01, 0.01, 0.01)),
        setup,
        build_state(z=0.12, v=(0.5, 0.0, -1.0, 0.0, 2.0, 0.0)),
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hooked": True},
        {"contact": "paper"},
        {"compiled": True},
        {"compiled": True, "hooked": True},
        {"compiled": True, "contact": "paper"},
    ],
    ids=[
        "arrays, calm",
        "arrays",
        "arrays, rigid",
        "compiled",
        "compiled, by phases",
        "compiled, rigid",
    ],
)
def test_impulses_of_contacts_and_gravity_explain_the_momentum_of_every_step(human, options):
    world = build(human, **options)
    run(world, 5)
    summary = run(world, 40)
    assert 0.0 < summary.momentum < 1e-5
    assert 0.0 < summary.spin < 1e-6
    assert not failed(summary, world)


def test_a_push_and_a_hand_that_is_held_give_what_they_give(human):
    """Loops hold against contacts too: what the hand carries, the soles do not."""
    world = build(human)
    place = world.robot.data()
    pin.framesForwardKinematics(world.robot.model, place, world.q)
    hand = place.oMf[world.robot.model.getFrameId("left_hand")]
    world.apply(
        [Connect(LoopClosure("grip", "spherical", "left_hand", pin.SE3.Identity(), "world", hand))]
    )
    world.push("torso", (60.0, 0.0, 20.0), 0.02)
    summary = run(world, 60)
    assert summary.momentum < 2e-4
    assert np.linalg.norm(world.lam) > 1.0
    assert not failed(summary, world)
    world.apply([Cut("grip")])
    assert len(world.lam) == 0
    assert run(world, 20).momentum < 2e-4


@pytest.mark.parametrize("options", [{}, {"compiled": True}, {"integrator": "accurate"}], ids=str)
def test_what_carries_an_arm_gives_what_it_takes_to_move_it(options):
    world = build_arm((build_plane(-0.5),), **options)
    summary = run(world, 500)
    assert summary.impacts > 0
    assert world.books.turned[0] > 1.0
    assert summary.momentum < 1e-4
    assert not failed(summary, world)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_tree_of_one_joint_is_explained(compiled):
    pendulum = f'<robot name="pendulum"><link name="base"/>{write_link("rod", 2.0, (0.02, 0.03, 0.01), (0.0, 0.02, -0.2))}'
    hinge = '<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/></joint></robot>'
    tip = TouchPoint("tip", "rod", np.array([0.0, 0.0, -0.4]), 0.02, 0.4, 0.3)
    setup = Setup(terrain=(build_plane(-0.3),), points=(tip,), compiled=compiled)
    world = World(hd.load_robot(pendulum + hinge, root="fixed"), setup, hd.State([0.0, 1.0], [0.0]))
    summary = run(world, 400)
    assert summary.impacts > 0
    assert not failed(summary, world)


def test_an_arm_in_a_loop_and_at_its_limit_is_explained():
    world = build_arm()
    place = world.robot.data()
    pin.framesForwardKinematics(world.robot.model, place, world.q)
    X_WB = pin.SE3(
        np.eye(3), place.oMf[world.robot.model.getFrameId("lower")].act(np.array([0.0, 0.0, -0.4]))
    )
    tip = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.4]))
    world.apply([Connect(LoopClosure("grip", "spherical", "lower", tip, "world", X_WB))])
    summary = run(world, 30)
    assert np.linalg.norm(world.lam) > 1.0
    assert not failed(summary, world)
    world.apply([Cut("grip")])
    world.set_state(hd.State([-2.95, 0.6, 0.8], [-3.0, 0.0]))
    summary = run(world, 40)
    assert summary.impacts > 0
    assert not failed(summary, world)


@pytest.mark.parametrize("options", [{}, {"compiled": True}, {"integrator": "accurate"}], ids=str)
@pytest.mark.parametrize("joint", [0, 1])
def test_a_velocity_of_an_arm_that_comes_from_nowhere_fails_the_audit(joint, options):
    world = build_arm(**options)
    world.add_hook(
        "after_step",
        lambda world: world._stepper.v.__setitem__(joint, 1.001 * world._stepper.v[joint]),
    )
    assert {"momentum error", "angular momentum error"} & failed(run(world, 100), world)


@pytest.mark.parametrize("compiled", [False, True])
def test_forces_on_an_arm_that_are_told_wrong_fail_the_audit(compiled, monkeypatch):
    world = build_arm((build_plane(-0.5),), compiled=compiled)
    kind = type(world._stepper.engine.contacts)
    told = kind.touching.fget
    monkeypatch.setattr(
        kind,
        "touching",
        property(lambda contacts: told(contacts)._replace(impulse=1.1 * told(contacts).impulse)),
    )
    assert "angular momentum error" in failed(run(world, 500), world)


def tie_hand(human):
    """Return a robot that hangs by a hand and swings, with all its joints loose."""
    bare = replace(human, damping=np.zeros(human.nv), friction=np.zeros(human.nv))
    world = World(bare, Setup(points=(), limits=False, compiled=False, integrator="accurate"))
    place = world.robot.data()
    pin.framesForwardKinematics(world.robot.model, place, world.q)
    hand = place.oMf[world.robot.model.getFrameId("left_hand")]
    world.apply(
        [Connect(LoopClosure("grip", "spherical", "left_hand", pin.SE3.Identity(), "world", hand))]
    )
    return world


def test_loops_are_explained_by_the_accurate_integrator_too(human):
    world = tie_hand(human)
    summary = run(world, 15)
    assert np.linalg.norm(world.lam) > 10.0
    assert 0.0 < summary.momentum < 1e-6
    assert not failed(summary, world)


def test_forces_of_loops_that_are_told_wrong_fail_the_audit(human, monkeypatch):
    right = fine_motion.accelerate

    def wrong(*given):
        a, pull = right(*given)
        return a, 1.1 * pull

    monkeypatch.setattr(fine_motion, "accelerate", wrong)
    world = tie_hand(human)
    assert "momentum error" in failed(run(world, 15), world)


def test_a_velocity_that_comes_from_nowhere_fails_the_audit(human):
    world = build(human)
    world.add_hook(
        "after_integrate", lambda world: world._stepper.v.__setitem__(0, world._stepper.v[0] + 1e-4)
    )
    summary = run(world, 20)
    assert summary.momentum == pytest.approx(1e-4 * human.mass, rel=0.01)
    assert "momentum error" in failed(summary, world)


def test_a_spin_that_comes_from_nowhere_fails_the_audit():
    world = World(
        build_body(2.0, (0.1, 0.2, 0.25)),
        Setup(gravity=(0.0, 0.0, 0.0)),
        build_state(v=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0)),
    )
    world.add_hook(
        "after_integrate",
        lambda world: world._stepper.v.__setitem__(3, 0.999 * world._stepper.v[3]),
    )
    summary = run(world, 20)
    assert summary.momentum < 1e-12
    assert {"angular momentum error", "energy error"} <= failed(summary, world)


def test_contact_forces_that_are_told_wrong_fail_the_audit(human, monkeypatch):
    world = build(human, hooked=True)
    run(world, 5)
    told = type(world._stepper.engine.contacts).touching.fget
    monkeypatch.setattr(
        type(world._stepper.engine.contacts),
        "touching",
        property(lambda contacts: told(contacts)._replace(impulse=1.01 * told(contacts).impulse)),
    )
    summary = run(world, 20)
    assert summary.momentum == pytest.approx(0.01 * human.mass * 9.81e-3, rel=0.1)
    assert "momentum error" in failed(summary, world)


def test_an_impact_keeps_its_law():
    world = drop()
    summary = run(world, 60)
    assert summary.impacts == 1
    assert summary.rebound < 1e-8
    assert summary.created == 0.0
    assert not failed(summary, world)


def test_an_impact_that_bounces_more_than_its_law_fails_the_audit(monkeypatch):
    right = friction.find_rebound

    def wrong(law, rows, G, before, e, *, kinetic):
        return right(law, rows, G, before, 4.0 * e, kinetic=np.inf)._replace(
            wanted=right(law, rows, G, before, e, kinetic=kinetic).wanted
        )

    monkeypatch.setattr(friction, "find_rebound", wrong)
    world = drop()
    summary = run(world, 60)
    assert summary.rebound > 1.0
    assert summary.created > 1.0
    assert {"impacts beside their law", "energy made by an impact"} <= failed(summary, world)


def test_nothing_is_measured_without_an_audit(human, monkeypatch):
    world = build(human, audit=False)
    monkeypatch.setattr(
        type(world._stepper.engine), "measure_motion", lambda *_: pytest.fail("was measured")
    )
    summary = run(world, 5)
    assert world.tables.numbers[AUDIT] == 0.0
    assert (summary.momentum, summary.spin) == (0.0, 0.0)
    assert not world.books.leaked.any()


@pytest.fixture(scope="module")
def thrown():
    """Return how a ball of 3 kg hits a figure that stands stiffly, with an audit and without."""
    figure = {"robot": "human28", "points": "body", "drive": {"kp": 3000, "kd": 60}}
    ball = {
        "mass": 3,
        "ball": 0.1,
        "xyz": [0.21, 0, 1.2],
        "velocity": [-5, 0, 0, 0, 0, 0],
        "restitution": 0.3,
    }
    scene = read_scene(
        {"figures": {"h": figure}, "objects": {"b": ball}, "terrain": [{"plane": {}}]}
    )
    worlds = [
        build_world(replace(scene, setup=replace(scene.setup, audit=audit)))
        for audit in (True, False)
    ]
    return worlds, [[world.step(1e-3) for _ in range(12)] for world in worlds]


def test_an_impact_that_makes_momentum_is_taken_again_in_halves(thrown):
    (world, _), (reports, _) = thrown
    assert any(report.impacts for report in reports)
    assert all(report.momentum < 0.005 for report in reports)
    assert np.linalg.norm(world.books.leaked[:3]) < 0.05


def test_without_an_audit_an_impact_is_taken_in_the_same_halves(thrown):
    world, other = thrown[0]
    np.testing.assert_array_equal(world.q, other.q)
    np.testing.assert_array_equal(world.v, other.v)


def test_books_tell_what_gravity_and_impulses_leave():
    rng = np.random.default_rng(1)
    books, numbers, mass, gravity, dt = (
        Books(0.0),
        np.zeros(NUMBERS),
        3.0,
        np.array([0.1, 0.2, -9.81]),
        0.01,
    )
    first, motion, impulse = rng.normal(size=(3, 9))
    books.begin_motion(mass, gravity, first)
    books.give(impulse[:6])
    books.close_motion(motion.tolist(), dt)
    books.report_motion(numbers)
    middle, com = first[6:] + 0.5 * dt * first[:3], motion[6:] / mass
    linear = motion[:3] - first[:3] - impulse[:3] - dt * mass * gravity
    spin = (
        motion[3:6]
        - first[3:6]
        - impulse[3:6]
        - dt * np.cross(middle, gravity)
        - np.cross(com, linear)
    )
    np.testing.assert_allclose(books.leaked, np.concatenate((linear, spin)), atol=1e-14)
    assert numbers[MOMENTUM] == pytest.approx(np.linalg.norm(linear))
    assert numbers[SPIN] == pytest.approx(np.linalg.norm(spin))
    way = [first[:3], motion[:3] - first[:3]]
    assert books.turned[0] == pytest.approx(sum(np.linalg.norm(part) for part in way))


def test_motion_of_sweeps_is_that_of_the_library(human):
    rng, model = np.random.default_rng(2), human.model
    q, v = pin.integrate(model, human.posture, rng.normal(size=model.nv)), rng.normal(size=model.nv)
    motion, data = np.zeros(9), model.createData()
    measure_motion(tuple(list_bodies(model, list_parents(model))), q, v, motion)
    np.testing.assert_allclose(
        motion[:6], measure_momentum(model, data, q, v), rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(
        motion[6:], human.mass * pin.centerOfMass(model, data, q), rtol=1e-12
    )


@pytest.mark.parametrize("compiled", [True, False])
def test_a_body_that_floats_beside_one_that_turns_fast_is_free_of_it(compiled):
    """Of a floating joint both bodies fly on as if alone: momentum and energy stay, however fast the upper one turns."""
    links = "".join(
        write_link(name, 1.0, (0.01, 0.02, 0.01), (0.0, 0.0, 0.0)) for name in ("stick", "stone")
    )
    joint = (
        '<joint name="loose" type="floating"><parent link="stick"/><child link="stone"/></joint>'
    )
    robot = hd.load_robot(f'<robot name="two">{links}{joint}</robot>', root="free_flyer")
    q, v = (
        pin.neutral(robot.model),
        np.array([0.5, -1.4, -0.5, -9.9, -2.2, -0.8, -0.2, 0.7, -0.6, 9.3, 2.9, 0.4]),
    )
    q[7:10] = 0.15, -0.9, 0.0
    world, before = (
        World(robot, Setup(points=(), compiled=compiled), hd.State(q, v)),
        momentum(robot, q, v),
    )
    for _ in range(100):
        assert world.step(1e-3).momentum < 1e-5
    state = world.state
    after = momentum(robot, state.q, state.v) - [0.0, 0.0, -0.1 * 9.81 * robot.mass]
    assert after == pytest.approx(before, abs=1e-3)
    assert abs(world.books.missing) < 1e-4 * world.books.start


def momentum(robot, q, v):
    return np.array(pin.computeCentroidalMomentum(robot.model, robot.data(), q, v).linear)
