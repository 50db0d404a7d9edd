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
    both = BranchTerms(Kinematics(robot), constraints, tree, PLAIN), Terms(Kinematics(robot), constraints)
    for terms in both:
        terms.evaluate(q)
        terms.hold(q)
    return both


@pytest.mark.parametrize("other", ["right_hand", "world"])
@pytest.mark.parametrize("kind", ROWS)
def test_rows_and_errors_are_those_of_the_loops(human, kind, other):
    kernels, arrays = stand(human, [tie(human, kind, other=other), tie(human, "spherical", other="torso", name="second")])
    np.testing.assert_allclose(kernels.rows, arrays.rows, atol=1e-14)
    for found, expected in zip(kernels.find_error(), arrays.find_error(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-14)


def test_the_basis_spans_the_rows_and_multipliers_make_what_is_held(human):
    blocks = [tie(human, "revolute"), tie(human, "spherical", name="again"), tie(human, "spherical", other="world", name="hook")]
    kernels, arrays = stand(human, blocks)
    assert kernels.Q.shape == arrays.Q.shape == (human.nv, 8)
    np.testing.assert_allclose(kernels.Q.T @ kernels.Q, np.eye(8), atol=1e-14)
    rows = kernels.whiten(kernels.rows.T)
    np.testing.assert_allclose(kernels.restrain(rows), 0.0, atol=1e-12)
    held = np.linspace(-1.0, 1.0, 8)
    np.testing.assert_allclose(rows @ kernels.multipliers(held), kernels.Q @ held, atol=1e-12)
    error = kernels.rows @ np.linspace(0.0, 1e-3, human.nv)
    np.testing.assert_allclose(kernels.rows @ kernels.velocity(kernels.closing(error)), -error, atol=1e-14)


def test_other_rows_and_changes_of_structure_are_taken_over(human):
    mimic = build_mimic(human, Mimic("left_elbow", "right_elbow", 1.0, 0.0))
    kernels, arrays = stand(human, [tie(human, "fixed"), mimic])
    np.testing.assert_allclose(kernels.rows, arrays.rows, atol=1e-14)
    for found, expected in zip(kernels.find_error(), arrays.find_error(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-14)
    kernels.constraints.remove("tie")
    kernels.hold_here()
    assert kernels.Q.shape == (human.nv, 1)
