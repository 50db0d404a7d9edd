# SPDX-License-Identifier: Apache-2.0
"""The examples of the papers with the bundled robots: counts of freedoms, closed forms, and what happens when hands let go."""

import time

import numpy as np
import pinocchio as pin
import pytest
import scenes
from machine import slowness

from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.audit import take_audit
from humanoid_dynamics.dynamics.change import apply_events
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.impact import project_velocity
from humanoid_dynamics.dynamics.integrator import step
from humanoid_dynamics.dynamics.inverse import build_maps, solve_inverse
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.unit_vector import solve_by_unit_vectors
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.state import State
from humanoid_dynamics.structure.events import Break, Connect, Cut
from humanoid_dynamics.structure.joining import join
from humanoid_dynamics.structure.links import Structure

# name: freedoms of the tree, rows, rank, mobility
MECHANISMS = {
    "fourbar": (3, 5, 2, 1),
    "fivebar": (4, 5, 2, 2),
    "parallelogram": (3, 5, 2, 1),
    "bennett": (3, 5, 2, 1),
    "stewart": (21, 15, 15, 6),
    "two_arms_bar": (6, 6, 3, 3),
    "swing": (9, 3, 3, 6),
    "rigid_swing": (1, 0, 0, 1),
    "ropes": (8, 0, 0, 8),
    "snake5": (7, 5, 5, 2),
    "human28": (34, 0, 0, 34),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_ck6_mobility_of_the_bundled_robots_eq_14(name):
    robot = load_robot(name)
    mechanism = Mechanism(robot)
    outcome = mechanism.mobility(robot.posture)
    assert (robot.nv, len(mechanism.J), outcome.rank, mechanism.nu) == MECHANISMS[name]
    assert np.abs(mechanism.constraints.error(mechanism.kinematics)).max(initial=0) < 1e-12


def test_ck6_bennett_with_its_cut_joint_kept_has_rank_3_of_6():
    robot = load_robot("bennett")
    scene = scenes.keep_virtual_links(scenes.close_scene(robot, robot.posture, []))
    assert (
        scene.robot.nv,
        len(scene.mechanism.J),
        scene.mechanism.null_space.rank,
        scene.mechanism.nu,
    ) == (4, 6, 3, 1)


def test_ck1_bundled_four_bar_is_f1():
    robot = load_robot("fourbar")
    mechanism = Mechanism(robot)
    answer = solve_inverse(mechanism, robot.posture, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(answer.tau_G, [0.646456524678], atol=1e-9)
    W, _ = build_maps(mechanism)
    np.testing.assert_allclose(W[:, 0], (1, -1.137145427517, 0.372124258767), atol=1e-9)
    np.testing.assert_allclose(
        solve_by_unit_vectors(mechanism, robot.posture, np.zeros(3), np.zeros(1)).A,
        [[0.025869354269]],
        rtol=1e-6,
    )


def test_ck3_bundled_five_bar_is_f2_and_two_arms_are_f7():
    robot = load_robot("fivebar")
    answer = solve_inverse(Mechanism(robot), robot.posture, np.zeros(4), np.zeros(4))
    np.testing.assert_allclose(answer.tau, (-1.503141807073, 1.150015879612), atol=1e-9)
    robot = load_robot("two_arms_bar")
    answer = solve_inverse(Mechanism(robot), robot.posture, np.zeros(6), np.zeros(6))
    expected = (
        -0.4376394314,
        3.2957055378,
        -2.7449878925,
        1.2707981704,
        -3.7543778544,
        2.5966578978,
    )
    np.testing.assert_allclose(answer.tau, expected, atol=1e-8)
    assert answer.redundancy == 3


def test_ck2_bundled_stewart_platform_is_f6():
    robot = load_robot("stewart")
    answer = solve_inverse(Mechanism(robot), robot.posture, np.zeros(21), np.zeros(21))
    expected = (38.99320455, 32.46368136, 29.29553701, 54.37637621, 20.47747303, 48.87910973)
    np.testing.assert_allclose(answer.tau, expected, atol=1e-6)


# The monkey on the swing [CK, sec. 4]: 40 freedoms with free joint and cut joints, 18 rows, 22 left; 25 and 28 as the hands let go -------


def test_ck14_swing_and_figure_have_22_25_28_freedoms():
    scene = scenes.swing()
    assert scene.closed.status is DynamicsStatus.OK
    assert (scene.robot.nv, scene.mechanism.null_space.rank, scene.mechanism.nu) == (31, 9, 22)
    assert [scene.cut(name) for name in ("left_hand", "right_hand")] == [25, 28]


@pytest.mark.parametrize(
    ("held", "count", "rank", "mobility"), [(2, 40, 18, 22), (1, 37, 12, 25), (0, 34, 6, 28)]
)
def test_ck14_counted_as_the_paper_counts(held, count, rank, mobility):
    scene = scenes.swing()
    scene = scenes.close_scene(
        load_scene_tree("human16", "swing"), scene.q, scene.robot.loops[1 : 1 + held]
    )
    kept = scenes.keep_virtual_links(scene)
    assert (kept.robot.nv, kept.mechanism.null_space.rank, kept.mechanism.nu) == (
        count,
        rank,
        mobility,
    )


def load_scene_tree(figure, thing):
    return join([load_robot(figure), load_robot(thing)], ["figure", "swing"])


def test_ck14_grasping_and_letting_go_are_events_of_one_model():
    scene = scenes.swing()
    loops = {loop.name: loop for loop in scene.robot.loops}
    robot = load_scene_tree("human16", "swing")
    mechanism, structure = Mechanism(robot), Structure.of(robot)
    model = mechanism.kinematics.model
    v = project_velocity(mechanism, scene.q, 0.3 * np.random.default_rng(0).normal(size=robot.nv))
    before = take_audit(mechanism, scene.q, v)
    hands = ("left_hand", "right_hand")
    grasp = apply_events(mechanism, State(scene.q, v), [Connect(loops[hand]) for hand in hands])
    for hand in hands:
        structure.connect(loops[hand])
    assert mechanism.nu == 22
    assert [link.name for link in structure.virtual] == ["swing/right_bar_ball", *hands]
    after = take_audit(mechanism, grasp.state.q, grasp.state.v)
    assert after.slip < 1e-11
    assert np.isclose(after.energy - before.energy, grasp.impact.energy_change, atol=1e-9)
    assert grasp.impact.energy_change < -1e-3
    freedoms = []
    for hand in hands:
        change = apply_events(mechanism, grasp.state, [Cut(hand)])
        mechanism.mobility(scene.q)
        freedoms.append(mechanism.nu)
        assert change.impact is None
        np.testing.assert_array_equal(change.state.v, grasp.state.v)
        np.testing.assert_allclose(
            project_velocity(mechanism, scene.q, grasp.state.v), grasp.state.v, atol=1e-10
        )
    assert freedoms == [25, 28]
    assert mechanism.kinematics.model is model
    figure = solve_forward(
        mechanism, grasp.state.q, grasp.state.v, np.zeros(len(mechanism.actuated))
    ).a
    alone = load_robot("human16")
    falling = alone.data()
    pin.centerOfMass(
        alone.model,
        falling,
        grasp.state.q[: alone.nq],
        grasp.state.v[: alone.nv],
        figure[: alone.nv],
    )
    np.testing.assert_allclose(falling.oMi[1].rotation @ falling.acom[1], (0, 0, -9.81), atol=1e-6)


def test_ck14_swing_keeps_its_energy():
    scene = scenes.swing()
    q, mechanism = scene.q, scene.mechanism
    v = project_velocity(mechanism, q, 0.5 * np.random.default_rng(1).normal(size=scene.robot.nv))
    start = take_audit(mechanism, q, v)
    for _ in range(150):
        outcome = step(mechanism, q, v, 1e-3, method="rkmk4")
        q, v = outcome.q, outcome.v
    end = take_audit(mechanism, q, v)
    assert abs(end.energy - start.energy) < 1e-3 * start.kinetic
    assert end.closure < 1e-9


# High bar and breaking swing [SV, sec. 5] -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grip", [0.12, 0.18])
def test_sv14_high_bar_has_12_17_22_freedoms(grip):
    scene = scenes.high_bar(grip)
    assert scene.closed.status is DynamicsStatus.OK
    kept = scenes.keep_virtual_links(scene)
    assert (kept.robot.nv, kept.mechanism.null_space.rank, kept.mechanism.nu) == (24, 12, 12)
    assert [scene.mechanism.nu, scene.cut("right_hand"), scene.cut("left_hand")] == [12, 17, 22]


def test_sv14_hands_as_far_apart_as_the_shoulders_have_rank_11():
    scene = scenes.high_bar(0.2193)
    kept = scenes.keep_virtual_links(scene)
    assert (kept.robot.nv, kept.mechanism.null_space.rank, kept.mechanism.nu) == (24, 11, 13)
    mechanism, q = scene.mechanism, scene.q
    v = project_velocity(mechanism, q, np.zeros(scene.robot.nv))
    for _ in range(50):
        answer = solve_forward(mechanism, q, v, np.zeros(len(mechanism.actuated)))
        assert answer.status is DynamicsStatus.INDETERMINATE
        assert np.isfinite(answer.a).all()
        outcome = step(mechanism, q, v, 2e-3)
        q, v = outcome.q, outcome.v
        assert outcome.closure < 1e-9
    model, data = scene.robot.model, scene.robot.data()
    pin.framesForwardKinematics(model, data, q)
    knees = [
        data.oMf[scene.robot.link_frame(f"figure/{side}_shank")].translation
        for side in ("left", "right")
    ]
    np.testing.assert_allclose(
        knees[0] * [1, -1, 1], knees[1], atol=1e-6
    )  # what was symmetric stays so
    assert scenes.high_bar(0.25).closed.status is DynamicsStatus.INCONSISTENT_INPUT


def test_sv14_breaking_swing_has_7_freedoms_then_17():
    scene = scenes.rigid_swing()
    assert scene.closed.status is DynamicsStatus.OK
    kept = scenes.keep_virtual_links(scene)
    assert (
        kept.robot.nv,
        len(kept.mechanism.J),
        kept.mechanism.null_space.rank,
        kept.mechanism.nu,
    ) == (31, 24, 24, 7)
    assert [scene.mechanism.nu, scene.cut("left_slot"), scene.cut("right_slot")] == [7, 12, 17]


def test_sv5_a_rope_of_the_swing_breaks_while_the_figure_holds_on():
    scene = scenes.swing()
    mechanism = scene.mechanism
    v = project_velocity(
        mechanism, scene.q, 0.3 * np.random.default_rng(2).normal(size=scene.robot.nv)
    )
    before = take_audit(mechanism, scene.q, v)
    change = apply_events(mechanism, State(scene.q, v), [Break("swing/left_ceiling_ball")])
    after = take_audit(change.mechanism, change.state.q, change.state.v)
    change.mechanism.mobility(change.state.q)
    assert change.mechanism.nu == 25
    assert change.mechanism.constraints.names == mechanism.constraints.names
    np.testing.assert_allclose(
        (after.energy, *after.linear, *after.angular),
        (before.energy, *before.linear, *before.angular),
        atol=1e-10,
    )
    assert max(after.closure, after.slip) < 1e-11


# The figure on two ropes [DF, sec. 4]: 48 freedoms, 36 left ------------------------------------------------------------------------------


def test_df11_figure_on_ropes_has_48_freedoms_and_rank_12():
    scene = scenes.ropes()
    assert scene.closed.status is DynamicsStatus.OK
    kept = scenes.keep_virtual_links(scene)
    assert (kept.robot.nv, kept.mechanism.null_space.rank, kept.mechanism.nu) == (48, 12, 36)
    rng = np.random.default_rng(3)
    v = project_velocity(scene.mechanism, scene.q, rng.normal(size=scene.robot.nv))
    tau = rng.normal(size=len(scene.mechanism.actuated))
    fast = solve_forward(scene.mechanism, scene.q, v, tau)
    literal = solve_by_unit_vectors(scene.mechanism, scene.q, v, tau)
    assert literal.inverse_dynamics_calls == 37
    np.testing.assert_allclose(fast.a, literal.a, atol=1e-8 * np.abs(literal.a).max())


def median_time(function, repetitions=200):
    spent = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return float(np.median(spent))


def test_df11_forward_dynamics_of_the_figure_on_ropes_takes_less_than_0_3_ms():
    scene = scenes.ropes()
    v, tau = np.zeros(scene.robot.nv), np.zeros(len(scene.mechanism.actuated))
    assert (
        median_time(lambda: solve_forward(scene.mechanism, scene.q, v, tau)) < 0.3e-3 * slowness()
    )


def test_sv3_a_hand_opens_and_closes_within_a_millisecond():
    """Cut and connection, each with the next evaluation of rows and null space."""
    scene = scenes.ropes()
    mechanism = scene.mechanism
    block = build_loop(scene.robot, scene.robot.loops[0])

    def open_and_close():
        mechanism.constraints.remove(block.name)
        mechanism.place(scene.q)
        mechanism.constraints.add(block)
        mechanism.place(scene.q)

    assert median_time(open_and_close) < 2e-3 * slowness()
