# SPDX-License-Identifier: Apache-2.0
"""Joints that mimic others: a compiled step takes them along in one go, and does what its phases one by one do."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.audit.setting import write_link
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.step_kernel import UNDONE
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Connect, Cut

pytest.importorskip("numba", reason="numba is not installed")
LINKS = "".join(
    write_link(name, mass, (0.02, 0.03, 0.01), (0.0, 0.02, -0.1))
    for name, mass in (("palm", 2.0), ("a", 0.4), ("b", 0.3), ("c", 0.2))
)
LIMIT = '<limit lower="-1" upper="1" effort="50" velocity="20"/>'
HAND = f"""<robot name="hand">{LINKS}
<joint name="drive" type="revolute"><parent link="palm"/><child link="a"/><origin xyz="0.05 0 0"/><axis xyz="0 1 0"/>{LIMIT}
<dynamics damping="0.02"/></joint>
<joint name="half" type="revolute"><parent link="palm"/><child link="b"/><origin xyz="-0.05 0 0"/><axis xyz="0 1 0"/>{LIMIT}
<mimic joint="drive" multiplier="-0.5" offset="0.1"/></joint>
<joint name="tip" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0 -0.2"/><axis xyz="1 1 0"/>{LIMIT}
<mimic joint="drive" multiplier="0.7"/></joint></robot>"""
TIPS = tuple(
    TouchPoint(f"{link}.tip", link, np.array([0.0, 0.0, -0.2]), 0.02, 0.5) for link in "abc"
)


def throw(*, hooked, **options):
    """Return a hand thrown onto the ground, fingers closing."""
    hand = hd.load_robot(HAND, root="free_flyer")
    q, v = np.array(hand.posture), np.zeros(hand.nv)
    q[2] = 0.46
    q[7:] = 0.2, 0.0, 0.14
    v[:6], v[6:] = (0.3, 0.0, -0.5, 0.2, 0.1, 0.4), (1.0, -0.5, 0.7)
    world = World(
        hand, Setup(terrain=(build_plane(),), points=TIPS, compiled=True, **options), hd.State(q, v)
    )
    if hooked:
        world.add_hook("after_forces", lambda _: None)
    return world


def count_leaps(world, steps):
    """Return how many steps were taken in one go, and all reports."""
    engine, came = world._stepper.engine, []
    right = engine.leap
    engine.leap = lambda *given: came.append(right(*given)) or came[-1]
    reports = [world.step(1e-3) for _ in range(steps)]
    engine.leap = right
    return sum(one != UNDONE for one in came), reports


@pytest.mark.parametrize("steps", [60, 400])
def test_a_step_in_one_go_is_that_of_its_phases(steps):
    one, other = throw(hooked=False), throw(hooked=True)
    leaps, reports = count_leaps(one, steps)
    slow, expected = count_leaps(other, steps)
    assert slow == 0
    assert leaps > 0.8 * steps
    assert {report.status for report in reports} == {"OK"}
    np.testing.assert_allclose(one.q, other.q, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(one.v, other.v, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(one.lam, other.lam, rtol=1e-6, atol=1e-7)
    assert np.abs(one.lam).max() > 1e-3
    assert max(report.closure for report in reports) < 1e-11
    assert abs(one.books.missing - other.books.missing) < 1e-9
    assert [report.touching for report in reports] == [report.touching for report in expected]


def test_what_mimics_does_so_and_makes_no_momentum():
    world = throw(hooked=False)
    leaps, reports = count_leaps(world, 100)
    assert leaps > 80
    np.testing.assert_allclose(
        world.q[8:], [0.1 - 0.5 * world.q[7], 0.7 * world.q[7]], rtol=0.0, atol=1e-11
    )
    assert max(report.momentum for report in reports) < 1e-5
    assert abs(world.books.missing) < 1e-4


def test_a_loop_besides_is_taken_by_its_phases_until_it_is_cut():
    world = throw(hooked=False)
    place = world.robot.data()
    pin.framesForwardKinematics(world.robot.model, place, world.q)
    held = place.oMf[world.robot.model.getFrameId("palm")]
    world.apply(
        [Connect(LoopClosure("grip", "spherical", "palm", pin.SE3.Identity(), "world", held))]
    )
    assert count_leaps(world, 20)[0] == 0
    assert len(world.lam) == 5
    world.apply([Cut("grip")])
    assert count_leaps(world, 20)[0] > 15
    assert len(world.lam) == 2
