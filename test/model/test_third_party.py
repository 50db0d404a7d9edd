# SPDX-License-Identifier: Apache-2.0
"""Humanoids of others: those described in ``config/robots``, and those nobody has described, which must load and stand all the same."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from bipeds import strip
from nearest import cone_distance

from humanoid_dynamics.errors import HumanoidDynamicsError, MissingExtraError
from humanoid_dynamics.model.description import Description
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.catalogue import catalogue_names, find_entry
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.standing.standing import pick_soles, support_margin
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.inverse import inverse_dynamics

PACKAGE = "example-robot-data"


def find_share() -> Path | None:
    """The folder of robots of the package, or None where it is not installed."""
    entry = find_entry("talos")
    assert entry is not None
    try:
        return entry.urdf_path().parents[2]
    except MissingExtraError:
        return None


SHARE = find_share()
DATA = Path(__file__).parents[2] / "../shared/data/robots"
DESCRIBED = ("talos", "talos_reduced", "g1", "romeo", "icub", "bolt", "alexander", "sr1", "human")
HUMANOIDS = (
    "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "human_description/robots/human.urdf",
    "icub_description/robots/icub.urdf",
    "icub_description/robots/icub_reduced.urdf",
    "romeo_description/urdf/romeo.urdf",
    "romeo_description/urdf/romeo_laas_small.urdf",
    "romeo_description/urdf/romeo_small.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "simple_humanoid_description/urdf/simple_humanoid_classical.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "talos_data/robots/talos_full_v2_box.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "talos_data/robots/talos_reduced_box.urdf",
    "talos_data/robots/talos_reduced_corrected.urdf",
)
LOOSE = ("g1_23dof_rev_1_0.urdf", "g1_29dof_rev_1_0.urdf", "humanSubject01_66dof.urdf")
ON_POINTS = {
    "bolt_description/robots/bolt.urdf": 2,
    "solo_description/robots/solo.urdf": 4,
    "solo_description/robots/solo12.urdf": 4,
}
LEGLESS = (
    "alex_description/urdf/alex_nub_hands.urdf",
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
)

needs_package = pytest.mark.skipif(
    SHARE is None, reason=f"package {PACKAGE} is not installed (extra 'robots')"
)


def urdf_path(relative: str) -> Path:
    if relative in LOOSE:
        if not (DATA / relative).is_file():
            pytest.skip(f"{relative} is not beside this checkout")
        return DATA / relative
    if SHARE is None:
        pytest.skip(f"package {PACKAGE} is not installed (extra 'robots')")
    return SHARE / relative


def placed(robot: RobotModel) -> pin.Data:
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    pin.centerOfMass(robot.model, data, robot.posture)
    return data


def holding_residual(robot: RobotModel) -> float:
    """How much of the weight forces at the corners of the soles, pushing inside their friction pyramids, cannot hold: relative."""
    data = placed(robot)
    weight = 9.81 * robot.mass
    height = data.com[0][2]
    columns = []
    for surface in robot.surfaces.values():
        X = data.oMf[surface.frame]
        for corner in surface.vertices:
            for slope in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                force = X.rotation @ np.array(
                    [*(surface.friction / np.sqrt(2.0) * np.array(slope)), 1.0]
                )
                columns.append([*force, *(np.cross(X.act(corner) - data.com[0], force) / height)])
    return (
        float(cone_distance(np.array(columns).T, np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]) * weight))
        / weight
    )


def assert_stands(robot: RobotModel) -> None:
    data = placed(robot)
    for surface in robot.surfaces.values():
        for corner in surface.vertices:
            assert abs(data.oMf[surface.frame].act(corner)[2]) < 1e-9
    assert support_margin(data, pick_soles(data, robot.surfaces)) > 0.03
    assert holding_residual(robot) < 1e-9


@pytest.mark.parametrize("relative", HUMANOIDS + LOOSE)
def test_numbers_are_those_of_pinocchio(relative: str) -> None:
    path = urdf_path(relative)
    own = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    robot = load_robot(path, description=Description())
    assert (robot.nq, robot.nv) == (own.nq, own.nv)
    assert robot.mass == pytest.approx(pin.computeTotalMass(own), rel=1e-12)


@pytest.mark.parametrize("relative", HUMANOIDS + LOOSE)
def test_nobody_described_it_and_it_stands(relative: str) -> None:
    assert_stands(load_robot(urdf_path(relative), description=Description()))


@pytest.mark.parametrize("relative", HUMANOIDS + LOOSE)
def test_soles_are_plausible(relative: str) -> None:
    robot = load_robot(urdf_path(relative), description=Description())
    assert set(robot.surfaces) == {"left_foot", "right_foot"}
    data = placed(robot)
    frames = {name: data.oMf[surface.frame] for name, surface in robot.surfaces.items()}
    for name, surface in robot.surfaces.items():
        length, breadth = surface.size
        assert 0.08 < length < 0.35
        assert 0.03 < breadth < 0.18
        assert np.allclose(frames[name].rotation[:, 2], [0.0, 0.0, 1.0], atol=1e-9)
        assert np.allclose(frames[name].rotation, np.eye(3), atol=1e-3)
        ankle = data.oMi[robot.model.frames[surface.frame].parentJoint].translation
        assert 0.02 < ankle[2] < 0.15
        assert "guessed" in surface.assumed
    assert robot.surfaces["left_foot"].size == pytest.approx(
        robot.surfaces["right_foot"].size, abs=0.005
    )
    # The left foot is to the left; the models of others are symmetric to a few millimetres at best, SR1 even less.
    left, right = (frames[name].translation for name in ("left_foot", "right_foot"))
    assert left[1] > 0.05 > -0.05 > right[1]
    assert np.allclose(left, right * [1.0, -1.0, 1.0], atol=0.02)


@pytest.mark.parametrize("relative", HUMANOIDS + LOOSE)
@pytest.mark.parametrize(
    "change",
    [{"shapes": True}, {"shapes": True, "names": True}],
    ids=["no shapes", "no shapes, no names"],
)
def test_it_stands_without_shapes_and_names(relative: str, change: dict[str, bool]) -> None:
    robot = load_robot(strip(urdf_path(relative).read_text(), **change), description=Description())
    assert set(robot.surfaces) == {"left_foot", "right_foot"}
    assert_stands(robot)


@pytest.mark.parametrize(("relative", "feet"), ON_POINTS.items())
def test_feet_that_are_points(relative: str, feet: int) -> None:
    robot = load_robot(urdf_path(relative), description=Description())
    assert [surface.kind for surface in robot.surfaces.values()] == ["point"] * feet
    data = placed(robot)
    assert (
        max(abs(data.oMf[surface.frame].translation[2]) for surface in robot.surfaces.values())
        < 1e-9
    )


@pytest.mark.parametrize("relative", LEGLESS)
def test_robots_without_legs_get_no_soles(relative: str) -> None:
    robot = load_robot(urdf_path(relative), description=Description())
    assert not robot.surfaces
    assert any("no foot" in warning for warning in robot.warnings)


@needs_package
@pytest.mark.slow
def test_every_urdf_of_the_package_loads_or_says_why() -> None:
    assert SHARE is not None
    refused = []
    for path in sorted(SHARE.rglob("*.urdf")):
        try:
            robot = load_robot(path, description=Description())
        except HumanoidDynamicsError as error:
            refused.append((path.name, str(error)))
            continue
        assert np.isfinite(robot.posture).all()
        assert pin.isNormalized(robot.model, robot.posture, 1e-9)
    assert len(refused) < 3
    assert all(name in message for name, message in refused)


def test_described_robots_are_in_the_catalogue() -> None:
    assert set(DESCRIBED) <= set(catalogue_names())


@needs_package
@pytest.mark.parametrize("name", DESCRIBED)
def test_described_robot_rests_as_described(name: str) -> None:
    robot = load_robot(name)
    entry = find_entry(name)
    assert entry is not None
    for joint, value in entry.description.posture.items():
        # The numbers of the iCub's URDF are rounded to five digits; making its soles level takes as much.
        assert robot.posture[robot.joint(joint).q][0] == pytest.approx(value, abs=5e-5)
        assert (
            robot.limits.lower[robot.joint(joint).q][0]
            <= value
            <= robot.limits.upper[robot.joint(joint).q][0]
        )
    assert not any(surface.assumed for surface in robot.surfaces.values())
    assert {"left_foot", "right_foot"} <= set(robot.surfaces)
    assert all(notice.element != "posture" for notice in robot.notices)


@needs_package
@pytest.mark.parametrize("name", [name for name in DESCRIBED if name != "bolt"])
def test_described_robot_stands(name: str) -> None:
    assert_stands(load_robot(name))


@needs_package
def test_bolt_balances_over_the_line_between_its_feet() -> None:
    robot = load_robot("bolt")
    data = placed(robot)
    left, right = (data.oMf[robot.surfaces[name].frame] for name in ("left_foot", "right_foot"))
    assert abs(data.com[0][0] - 0.5 * (left.translation + right.translation)[0]) < 1e-9
    assert left.rotation[2, 2] == pytest.approx(1.0, abs=1e-3)
    assert (
        inverse_dynamics(robot, State.at_rest(robot), np.zeros(robot.nv)).certificate.status == "OK"
    )


@needs_package
@pytest.mark.parametrize("name", [name for name in DESCRIBED if name not in {"bolt", "sr1"}])
def test_descriptions_agree_with_what_would_be_guessed(name: str) -> None:
    entry = find_entry(name)
    assert entry is not None
    described, guessed = load_robot(name), load_robot(entry.urdf_path(), description=Description())
    for foot, surface in described.surfaces.items():
        assert surface.size == pytest.approx(guessed.surfaces[foot].size, abs=2e-3)


@needs_package
def test_left_and_right_of_descriptions_are_mirror_images() -> None:
    for name in DESCRIBED:
        left, right = (
            load_robot(name).surfaces[foot].vertices for foot in ("left_foot", "right_foot")
        )
        assert np.array_equal(left[::-1] * [1.0, -1.0, 1.0] + 0.0, right + 0.0)


@needs_package
def test_talos_loads_in_a_third_of_a_second() -> None:
    load_robot("talos")
    times = []
    for _ in range(3):
        start = time.process_time()
        load_robot("talos")
        times.append(time.process_time() - start)
    assert min(times) < 0.3
