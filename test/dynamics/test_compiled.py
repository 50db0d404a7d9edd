# SPDX-License-Identifier: Apache-2.0
"""The compiled route says what the engine says."""

import numpy as np
import pinocchio as pin
import pytest
from mechanisms import random_configuration, random_loop, random_pose, random_tree

from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.compiled import CompiledForward
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.impact import project_velocity
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.model.surface import ContactSurface


@pytest.mark.parametrize("kind", ["fixed", "spherical", "face", "point", "both"])
@pytest.mark.parametrize("seed", range(4))
def test_same_acceleration_and_forces(kind, seed):
    rng = np.random.default_rng(seed)
    robot = random_tree(rng, 9)
    q = random_configuration(robot.model, rng)
    sole = ContactSurface(
        "sole",
        "link7",
        0,
        random_pose(rng),
        np.array([[0.1, 0.1, 0], [-0.1, 0.1, 0], [0, -0.1, 0]]),
    )
    blocks = {
        "face": [build_contact(robot, sole)],
        "point": [build_contact(robot, sole, vertices=(1,))],
        "both": [
            build_contact(robot, sole, vertices=(1,)),
            build_loop(robot, random_loop(robot, q, rng, "spherical", links=("link8", "link2"))),
        ],
    }.get(kind) or [build_loop(robot, random_loop(robot, q, rng, kind, links=("link8", "link3")))]
    mechanism = Mechanism(robot, blocks)
    v = project_velocity(mechanism, q, rng.normal(size=robot.nv))
    tau, force = rng.normal(size=len(mechanism.actuated)), rng.normal(size=robot.nv)
    compiled = CompiledForward(mechanism)
    assert compiled.is_compiled
    ours, theirs = solve_forward(mechanism, q, v, tau, force), compiled.solve(q, v, tau, force)
    np.testing.assert_allclose(theirs.a, ours.a, atol=1e-8 * (1 + np.abs(ours.a).max()))
    if not ours.indeterminate:
        np.testing.assert_allclose(theirs.lam, ours.lam, atol=1e-6 * (1 + np.abs(ours.lam).max()))


def test_it_follows_the_constraints_and_hands_over_what_it_does_not_know():
    rng = np.random.default_rng(5)
    robot = random_tree(rng, 9)
    q, v = random_configuration(robot.model, rng), np.zeros(robot.nv)
    mechanism = Mechanism(robot, [])
    compiled, tau = CompiledForward(mechanism), np.zeros(len(mechanism.actuated))
    np.testing.assert_allclose(
        compiled.solve(q, v, tau).a, pin.aba(robot.model, robot.data(), q, v, v), atol=1e-9
    )
    for kind, known in (("spherical", True), ("revolute", False)):
        name = mechanism.constraints.add(
            build_loop(robot, random_loop(robot, q, rng, kind, links=("link8", "link1")))
        )
        assert compiled.is_compiled is known
        ours = solve_forward(mechanism, q, v, tau).a
        np.testing.assert_allclose(
            compiled.solve(q, v, tau).a, ours, atol=1e-8 * (1 + np.abs(ours).max())
        )
        mechanism.constraints.remove(name)
    assert compiled.solve(q * np.nan, v, tau).status is DynamicsStatus.INVALID_INPUT


def test_contacts_that_repeat_each_other_do_not_become_nan():
    rng = np.random.default_rng(6)
    robot, sole = random_tree(rng, 8), None
    sole = ContactSurface(
        "sole",
        "link6",
        0,
        random_pose(rng),
        np.array([[0.1, 0.1, 0], [-0.1, 0.1, 0], [0, -0.1, 0]]),
    )
    mechanism = Mechanism(
        robot,
        [build_contact(robot, sole, name=f"c{k}", vertices=(k,)) for k in range(3)]
        + [build_contact(robot, sole)],
    )
    q, v, tau = (
        random_configuration(robot.model, rng),
        np.zeros(robot.nv),
        np.zeros(len(mechanism.actuated)),
    )
    ours, theirs = solve_forward(mechanism, q, v, tau), CompiledForward(mechanism).solve(q, v, tau)
    np.testing.assert_allclose(theirs.a, ours.a, atol=1e-6 * (1 + np.abs(ours.a).max()))
