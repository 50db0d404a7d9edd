# SPDX-License-Identifier: Apache-2.0
"""The report of mobility: counts, singular motors, internal forces, open loops."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import scenes
from figures import five_bar, five_bar_posture

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.constraints.coordinate import build_lock
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.mobility import report_mobility
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.load import load_robot

# robot: freedoms, rows, rank, mobility, freedoms of the shape, rank of S, internal forces
COUNTS = {
    "fourbar": (3, 5, 2, 1, 1, 1, 0),
    "fivebar": (4, 5, 2, 2, 2, 2, 0),
    "bennett": (3, 5, 2, 1, 1, 1, 0),
    "stewart": (21, 15, 15, 6, 6, 6, 0),
    "two_arms_bar": (6, 6, 3, 3, 3, 3, 3),
    "snake5": (7, 5, 5, 2, 2, 2, 2),
    "swing": (9, 3, 3, 6, 6, 0, 0),
    "human28": (34, 0, 0, 34, 28, 28, 0),
    "biped7": (9, 0, 0, 9, 6, 6, 0),
    "highbar": (0, 0, 0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_the_bundled_robots(name):
    report = report_mobility(load_robot(name))
    counted = (report.freedoms, report.rows, report.rank, report.mobility, report.internal_mobility)
    assert (*counted, report.actuation_rank, report.internal_forces) == COUNTS[name]
    assert report.closure < 1e-12
    assert len(report.generalized) == report.mobility
    assert len(report.dependent) == report.rank
    assert len(report.singular_values) == min(report.rows, report.freedoms)
    assert report.indeterminate_forces == report.rows - report.rank
    assert report.status is (
        DynamicsStatus.RANK_DEFICIENT if report.rows > report.rank else DynamicsStatus.OK
    )
    counting = np.array(report.singular_values) > report.tolerance * max(
        report.singular_values, default=0
    )
    assert counting.sum() == report.rank


def test_five_bar_with_its_rods_in_line_is_singular_for_its_motors():
    robot = five_bar(0.3, 0.25, 0.1, actuated=["left_base", "right_base"])
    q, _ = five_bar_posture(np.radians(120), np.radians(60), 0.3, 0.25, 0.1)
    report = report_mobility(robot, q)
    assert (report.rank, report.mobility, report.actuation_rank) == (2, 2, 1)
    assert report.status is DynamicsStatus.ACTUATION_SINGULAR
    assert "drive only 1 of 2" in report.reasons[0]
    good, _ = five_bar_posture(np.radians(120), np.radians(70), 0.3, 0.25, 0.1)
    assert report_mobility(robot, good).actuation_rank == 2


def test_an_open_loop_is_told_first():
    robot = load_robot("fivebar")
    report = report_mobility(robot, load_robot("fivebar").posture[[2, 3, 0, 1, 4, 5, 6, 7]])
    assert report.status is DynamicsStatus.INCONSISTENT_INPUT
    assert report.closure > 1e-2
    assert report.reasons[0].startswith("the constraints are not met")


def test_a_posture_that_is_not_closed_is_closed_first():
    robot = load_robot("fivebar")
    loose = pin.integrate(robot.model, robot.posture, np.array([0.05, -0.1, 0.0, 0.1]))
    assert report_mobility(robot, loose).closure > 1e-2
    assert report_mobility(replace(robot, posture=loose)).closure < 1e-11


def test_contacts_and_locks_of_a_mechanism_count():
    robot = load_robot("human28")
    blocks = [
        build_contact(robot, "left_foot"),
        build_contact(robot, "right_foot"),
        build_lock(robot, "neck_yaw"),
    ]
    report = report_mobility(robot, mechanism=Mechanism(robot, ConstraintSet.of(robot, blocks)))
    assert [(block.kind, block.rank) for block in report.constraints] == [
        ("contact", 6),
        ("contact", 6),
        ("coupling", 1),
    ]
    assert (report.mobility, report.internal_mobility, report.actuation_rank) == (21, 21, 21)
    assert report.internal_forces == 7


def test_a_figure_on_the_swing_can_turn_about_its_hands_and_squeeze_the_bar():
    """The turn moves no joint; seven freedoms between bar and trunk for eight motors leave one squeeze that moves nothing."""
    scene = scenes.swing()
    report = report_mobility(scene.robot, scene.q)
    assert (
        report.mobility,
        report.internal_mobility,
        report.actuation_rank,
        report.internal_forces,
    ) == (22, 21, 15, 1)
    assert report.status is DynamicsStatus.ACTUATION_SINGULAR


def test_wrong_size_is_refused():
    with pytest.raises(ShapeError, match="q"):
        report_mobility(load_robot("fourbar"), np.zeros(2))
