# SPDX-License-Identifier: Apache-2.0
"""Rows, errors and basis of closed loops by kernels are those of the constraints themselves."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.coordinate import build_mimic
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.loop import ROWS, build_loop
from humanoid_dynamics.model.joint import Mimic
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.steps.branch_terms import BranchTerms
from humanoid_dynamics.simulation.steps.compiled import PLAIN
from humanoid_dynamics.simulation.steps.tables import list_joints, list_parents
from humanoid_dynamics.simulation.steps.terms import Terms


@pytest.fixture(scope="module")
def human():
    return hd.load_robot("human28")


def tie(robot, kind, *, other="right_hand", name="tie"):
    X_LA, X_LB = (pin.exp6(np.array([0.1, -0.2, 0.05, 0.3, 0.1 * k, -0.2])) for k in range(2))
    return build_loop(robot, LoopClosure(name, kind, "left_hand", X_LA, other, X_LB))


def stand(robot, blocks):
    """Return terms by kernels and by arrays at one configuration, bilateral rows held."""
    constraints, q = ConstraintSet.of(robot, blocks), np.array(robot.posture)
    q = pin.integrate(robot.model, q, 0.4 * np.random.default_rng(1).normal(size=robot.nv))
    tree = list_joints(robot.model), list_parents(robot.model)
    both = (
        BranchTerms(Kinematics(robot), constraints, tree, PLAIN),
        Terms(Kinematics(robot), constraints),
    )
    for terms in both:
        terms.evaluate(q)
        terms.hold(q)
    return both


@pytest.mark.parametrize("other", ["right_hand", "world"])
@pytest.mark.parametrize("kind", ROWS)
def test_rows_and_errors_are_those_of_the_loops(human, kind, other):
    kernels, arrays = stand(
        human,
        [tie(human, kind, other=other), tie(human, "spherical", other="torso", name="second")],
    )
    np.testing.assert_allclose(kernels.rows, arrays.rows, atol=1e-14)
    for found, expected in zip(kernels.find_error(), arrays.find_error(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-14)


def test_the_basis_spans_the_rows_and_multipliers_make_what_is_held(human):
    blocks = [
        tie(human, "revolute"),
        tie(human, "spherical", name="again"),
        tie(human, "spherical", other="world", name="hook"),
    ]
    kernels, arrays = stand(human, blocks)
    assert kernels.Q.shape == arrays.Q.shape == (human.nv, 8)
    np.testing.assert_allclose(kernels.Q.T @ kernels.Q, np.eye(8), atol=1e-14)
    rows = kernels.whiten(kernels.rows.T)
    np.testing.assert_allclose(kernels.restrain(rows), 0.0, atol=1e-12)
    held = np.linspace(-1.0, 1.0, 8)
    np.testing.assert_allclose(rows @ kernels.multipliers(held), kernels.Q @ held, atol=1e-12)
    error = kernels.rows @ np.linspace(0.0, 1e-3, human.nv)
    np.testing.assert_allclose(
        kernels.rows @ kernels.velocity(kernels.closing(error)), -error, atol=1e-14
    )


def test_other_rows_and_changes_of_structure_are_taken_over(human):
    mimic = build_mimic(human, Mimic("left_elbow", "right_elbow", 1.0, 0.0))
    kernels, arrays = stand(human, [tie(human, "fixed"), mimic])
    np.testing.assert_allclose(kernels.rows, arrays.rows, atol=1e-14)
    for found, expected in zip(kernels.find_error(), arrays.find_error(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-14)
    kernels.constraints.remove("tie")
    kernels.hold_here()
    assert kernels.Q.shape == (human.nv, 1)


SPECK = """<robot name="speck">
  <link name="block"><inertial><mass value="10"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="speck"><inertial><mass value="1e-7"/><inertia ixx="1e-9" iyy="1e-9" izz="1e-9" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="block"/><child link="speck"/><axis xyz="1 0 0"/>
    <limit effort="1" velocity="1"/></joint>
</robot>"""


def test_the_row_of_a_speck_hides_none_of_a_block():
    """Two hooks a hair apart hold a block against turns about them, weakly beside what holds a speck on it."""
    robot = hd.load_robot(SPECK)
    hooks = [pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])) for x in (0.0, 1e-4)]
    loops = [
        LoopClosure(f"hook{i}", "spherical", "block", X, "world", X) for i, X in enumerate(hooks)
    ]
    loops.append(
        LoopClosure("catch", "spherical", "speck", pin.SE3.Identity(), "block", pin.SE3.Identity())
    )
    for terms in stand(robot, [build_loop(robot, loop) for loop in loops]):
        held = terms.restrain(terms.whiten(terms.rows.T))
        assert terms.Q.shape == (7, 6)
        np.testing.assert_allclose(held, 0.0, atol=1e-10)
        error = terms.rows @ np.linspace(0.0, 1e-4, 7)
        np.testing.assert_allclose(
            terms.rows @ terms.velocity(terms.closing(error)), -error, atol=1e-12
        )
