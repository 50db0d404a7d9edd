# SPDX-License-Identifier: Apache-2.0
"""Contact impulses: the laws they obey, closed forms, and the compiled twin."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.audit.setting import build_body, build_state
from humanoid_dynamics.simulation.contacts.compiled_cones import CompiledCones
from humanoid_dynamics.simulation.contacts.cone_newton import Cones
from humanoid_dynamics.simulation.contacts.cone_problem import CLOSE, HARD, ConeProblem
from humanoid_dynamics.simulation.contacts.cones import certify, solve_cones
from humanoid_dynamics.simulation.contacts.law import ContactLaw
from humanoid_dynamics.simulation.contacts.point_table import bind_points
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint, list_surface_points
from humanoid_dynamics.simulation.contacts.yielding_kernel import settle_hard, soften
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.compiled import compile_step
from humanoid_dynamics.simulation.world import World

SQUARE = ((0.1, 0.1), (0.1, -0.1), (-0.1, -0.1), (-0.1, 0.1))


def random_problem(rng, contacts, limits=0, redundant=False):
    """Points of a few free bodies: rows of a rigid body at random places, several times the same body where redundant."""
    count = contacts + limits
    bodies = 1 if redundant else max(1, contacts // 2)
    J = np.zeros((count + 2 * contacts, 6 * bodies + limits))
    for k in range(contacts):
        R, _ = np.linalg.qr(rng.normal(size=(3, 3)) * 0.2 + np.eye(3))
        place, body = rng.uniform(-0.3, 0.3, 3), int(rng.integers(bodies))
        for row, axis in zip((k, count + k, count + contacts + k), R.T, strict=True):
            J[row, 6 * body : 6 * body + 6] = np.concatenate((axis, np.cross(place, axis) / 0.2))
    for k in range(limits):
        J[contacts + k, 6 * bodies + k] = 1.0
        J[contacts + k, :6] = 0.3 * rng.normal(size=6)
    velocity = rng.normal(size=J.shape[1])
    return ConeProblem(J @ J.T, J @ velocity, rng.uniform(0.0, 1.0, contacts), count)


def natural_error(problem, answer):
    """How far impulses are from their projection, written down anew contact by contact."""
    count, m = problem.normals, len(problem.mu)
    u = problem.G @ answer.p + problem.b
    worst = 0.0
    for k in range(count):
        p, rate = answer.p[k], u[k]
        worst = max(worst, -p, -rate, min(abs(p), abs(rate)))
    for k in range(m):
        slip = np.array([u[count + k], u[count + m + k]])
        pull, most = (
            np.array([answer.p[count + k], answer.p[count + m + k]]),
            problem.mu[k] * answer.p[k],
        )
        worst = max(worst, np.linalg.norm(pull) - most)
        if np.linalg.norm(slip) > 1e-3:
            worst = max(worst, np.linalg.norm(pull + most * slip / np.linalg.norm(slip)))
    return worst


@pytest.mark.parametrize("redundant", [False, True])
def test_impulses_obey_signorini_and_coulomb(redundant):
    rng = np.random.default_rng(1)
    for _ in range(150):
        problem = random_problem(rng, int(rng.integers(1, 7)), int(rng.integers(0, 3)), redundant)
        answer = solve_cones(problem)
        assert answer.cone <= 1e-9
        assert (answer.p[: problem.normals] >= 0.0).all()
        assert answer.exact
        assert natural_error(problem, answer) < (2e-3 if redundant else 1e-3)
        assert answer.p @ (problem.G @ answer.p + problem.b) <= 1e-4


def test_block_on_a_plane_sticks_and_slips():
    """One point of mass 2: normal stops it, friction takes at most mu of that."""
    for mu, along in ((0.8, 1.0), (0.3, 1.0)):
        answer = solve_cones(
            ConeProblem(np.eye(3) / 2.0, np.array([-2.0, along, 0.0]), np.array([mu]), 1)
        )
        assert answer.p[0] == pytest.approx(4.0, rel=1e-4)
        assert answer.p[1] == pytest.approx(-min(2.0 * along, 4.0 * mu), rel=1e-4)


def test_open_contacts_get_nothing():
    answer = solve_cones(
        ConeProblem(np.eye(6), np.array([0.1, 0.2, 1.0, -1.0, 2.0, 0.5]), np.array([0.5, 0.9]), 2)
    )
    np.testing.assert_array_equal(answer.p, 0.0)
    assert answer.exact


@pytest.mark.parametrize("redundant", [False, True])
def test_the_compiled_solver_finds_the_same(redundant):
    rng = np.random.default_rng(2)
    compiled = CompiledCones(compile_step().solve_cones)
    for number in range(60):
        problem = random_problem(rng, int(rng.integers(0, 7)), int(rng.integers(1, 4)), redundant)
        m = len(problem.mu)
        problem = problem._replace(owner=None if number % 2 else np.sort(rng.integers(0, 40, m)))
        guess = (
            None
            if number % 3
            else np.where(rng.random(len(problem.b)) < 0.5, 0.0, rng.random(len(problem.b)))
        )
        expected, answer = solve_cones(problem, guess), compiled(problem, guess)
        assert expected.exact
        assert answer.exact
        np.testing.assert_allclose(
            answer.p, expected.p, atol=1e-6 * max(1.0, np.abs(expected.p).max())
        )
        np.testing.assert_allclose(
            answer.u, expected.u, atol=1e-6 * max(1.0, np.abs(problem.b).max())
        )
        assert answer.cone <= 1e-9


@pytest.mark.parametrize("seed", [1384, 1541, 1978, 2031, 2441, 3087, 4643, 5546])
def test_where_newtons_method_gets_stuck_others_find_the_impulses(seed):
    problem = random_problem(np.random.default_rng(seed), 4 + seed % 6, 0, True)
    assert CompiledCones(compile_step().solve_cones)(problem, None).exact


def solve_hard(problem, by_kernel):
    """Return residual, number of systems solved and impulses of a problem in which nothing yields."""
    if by_kernel:
        size = len(problem.b)
        p, u, guess = np.zeros((3, size))
        cones = Cones(
            problem.G.copy(), problem.b.copy(), problem.mu, np.empty(size), problem.normals
        )
        return *settle_hard(
            cones, soften(cones, guess, problem.owner), guess, (p, u), slides=False
        ), p
    points = bind_points(hd.load_robot("human28"), [])
    answer = ContactLaw(points, problem.owner[:0], "friction").solve(problem, None, None)
    return answer.residual, answer.rounds, answer.p


@pytest.mark.parametrize("by_kernel", [False, True])
def test_where_a_search_ends_before_the_solution_the_next_one_around_its_end_finds_it(by_kernel):
    rng = np.random.default_rng(5378)
    contacts = int(rng.integers(2, 7))
    problem, alike = (
        random_problem(rng, contacts, redundant=True),
        np.zeros(contacts, dtype=np.intp),
    )
    problem = problem._replace(mu=np.full(contacts, 0.7), owner=alike)
    assert solve_hard(problem, by_kernel)[0] < HARD
    assert solve_cones(problem).residual > CLOSE


@pytest.mark.parametrize("by_kernel", [False, True])
def test_passes_that_lead_straight_on_are_led_on(by_kernel):
    """What is ten million times heavier than another contact of its body yields as that does: each pass takes a fiftieth of its error."""
    G = np.diag([1.0, 1e-7, 1.0, 1e-7, 1.0, 1e-7])
    problem = ConeProblem(
        G,
        np.array([-1.0, -1.0, 0.3, 0.3, 0.0, 0.0]),
        np.full(2, 0.5),
        2,
        np.zeros(2, dtype=np.intp),
    )
    residual, rounds, p = solve_hard(problem, by_kernel)
    assert residual < HARD
    assert rounds < 50
    np.testing.assert_allclose(p, [1.0, 1e7, -0.3, -3e6, 0.0, 0.0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("by_kernel", [False, True])
def test_a_problem_without_a_solution_is_soon_given_up(by_kernel):
    """Two that push each other as hard as they push away: no impulses stop both."""
    G = np.zeros((6, 6))
    G[:2, :2], G[2:, 2:] = [[1.0, -1.0], [-1.0, 1.0]], np.eye(4)
    problem = ConeProblem(
        G, np.array([-1.0, -1.0, 0.3, 0.3, 0.0, 0.0]), np.full(2, 0.5), 2, np.arange(2)
    )
    residual, rounds, p = solve_hard(problem, by_kernel)
    assert residual > CLOSE
    assert rounds < 30
    assert np.isfinite(p).all()


def test_impacts_of_what_is_light_and_heavy_together_do_not_yield():
    """A wheel that turns easily lends its body much softness: impulses are found around the last ones until the velocities hold."""
    robot = hd.load_robot("human28")
    points = bind_points(robot, list_surface_points(robot)[:1])
    law = ContactLaw(points, np.zeros(1, dtype=np.intp), "friction")
    rng, worst = np.random.default_rng(3), 0.0
    for _ in range(30):
        problem = random_problem(rng, 3, 1)
        scales = 10.0 ** rng.uniform(-2.5, 0.0, len(problem.b))
        scales[4:7] = scales[7:] = scales[:3]
        G = scales[:, None] * problem.G * scales
        problem = problem._replace(G=G, b=scales * problem.b, owner=np.zeros(3, dtype=np.intp))
        answer = law.solve(problem, None, None)
        u = G @ answer.p + problem.b
        np.testing.assert_array_equal(answer.u, u)
        held = answer.p[:4] > 1e-6
        assert answer.exact
        assert np.abs(u[:4][held]).max(initial=0.0) < 1e-6
        assert u[:4].min() > -1e-6
        first = solve_cones(problem)
        worst = max(worst, certify(problem, solve_cones(problem, first.p)).residual)
    assert worst > 1e-6


@pytest.mark.parametrize("compiled", [False, True])
def test_steps_are_certified_as_problems_in_which_nothing_yields(compiled):
    """What grips stops within a step: what its contacts yield while impulses are found, a share of 1e-5 of its speed, is not left."""
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    corners = tuple(
        TouchPoint(f"corner{k}", "body", np.array([x, y, 0.0]), 0.0, 1e3)
        for k, (x, y) in enumerate(SQUARE)
    )
    setup = Setup(terrain=(build_plane(friction=1e3),), points=corners, compiled=compiled)
    world = World(
        build_body(2.0, (0.02, 0.02, 0.02)), setup, build_state(v=(0.9, 0.1, -0.015, 0.0, 0.0, 0.3))
    )
    report = world.step(1e-3)
    assert report.impacts == 0
    assert report.status == "OK"
    left = np.abs(world.v).max()
    assert left < 2.0 * HARD
    assert report.residual == pytest.approx(left, rel=0.5, abs=1e-12)
