# SPDX-License-Identifier: Apache-2.0
"""Parts of the body keep clear of each other: rows against differences of distances, and hands that are led through each other."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.poses.clearance import BRAKING, KEPT, SEEN, Clearance
from humanoid_dynamics.filtering.poses.clearance_kernels import find_gaps, find_near
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation


def update(clearance: Clearance, robot: hd.RobotModel, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    data = robot.data()
    pin.computeJointJacobians(robot.model, data, q)
    pin.nonLinearEffects(robot.model, data, q, v)
    clearance.update(data, v)
    return clearance.over.copy()


def test_rows_are_the_rates_of_distances_and_bounds_know_how_they_curve() -> None:
    robot = hd.load_robot("human28")
    clearance, rng = Clearance(robot), np.random.default_rng(2)
    assert clearance.pairs[0] == ("left_hand", "right_hand")
    hands = [robot.control_points[f"{side}_hand"].frame for side in ("left", "right")]
    arms = np.array(robot.posture)
    for side in ("left", "right"):  # hands before the chest, near each other
        for name, angle in (
            ("shoulder_pitch", -0.9),
            ("shoulder_yaw", -0.78 if side == "left" else 0.78),
            ("elbow", -1.4),
        ):
            arms[robot.joint(f"{side}_{name}").q] = angle
    seen = 0
    for _ in range(40):
        q = pin.integrate(robot.model, arms, 0.1 * rng.standard_normal(robot.nv))
        v = rng.standard_normal(robot.nv)
        over = update(clearance, robot, q, v)
        near = np.flatnonzero(over < SEEN)
        if len(near) != clearance.count or not len(near):
            continue
        rows, lower = clearance.rows[: len(near)].copy(), clearance.lower[: len(near)].copy()
        step = 1e-5
        before, after = (
            update(clearance, robot, pin.integrate(robot.model, q, way * step * v), v)
            for way in (-1, 1)
        )
        assert np.abs((after - before)[near] / (2.0 * step) - rows @ v).max() < 1e-6
        if near[0] != 0 or lower[0] > 100.0:
            continue
        seen += 1
        # Hands are balls: their distance curves by the drift and by the part of their velocity across the line, over the distance.
        data = robot.data()
        pin.forwardKinematics(robot.model, data, q, v)
        pin.updateFramePlacements(robot.model, data)
        rates = [
            pin.getFrameVelocity(
                robot.model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            ).linear
            for frame in hands
        ]
        line = data.oMf[hands[1]].translation - data.oMf[hands[0]].translation
        across = float(np.sum(np.square(rates[1] - rates[0])) - (rows[0] @ v) ** 2) / float(
            np.linalg.norm(line)
        )
        step = 1e-3
        curve = sum(
            w * update(clearance, robot, pin.integrate(robot.model, q, way * step * v), v)[0]
            for way, w in ((-1, 1), (0, -2), (1, 1))
        )
        drift = -lower[0] - 2.0 * BRAKING * float(rows[0] @ v) - BRAKING**2 * over[0]
        assert abs(curve / step**2 - across - drift) < 1e-3 * (1.0 + abs(drift))
    assert seen >= 3


@pytest.mark.parametrize("lengths", [(0.3, 1.0), (0.0, 0.4), (0.0, 0.0)])
def test_distances_of_capsules_are_those_of_coal(lengths: tuple[float, float]) -> None:
    rng, radius = np.random.default_rng(5), 0.05
    for _ in range(100):
        turns = [pin.exp3(rng.normal(size=3)) for _ in lengths]
        places = rng.normal(scale=0.5, size=(2, 3))
        poses = np.array([pin.SE3(R, p).homogeneous for R, p in zip(turns, places, strict=True)])
        capsules = np.array(
            [
                (k, 0.0, 0.0, -half, 0.0, 0.0, half, radius)
                for k, half in enumerate(0.5 * np.array(lengths))
            ]
        )
        points, over = np.zeros((1, 2, 3)), np.zeros(1)
        find_gaps(poses, capsules, np.array([[0, 1]]), points, over)
        shapes = [pin.coal.Capsule(radius, length) for length in lengths]
        placed = [pin.coal.Transform3s(R, p) for R, p in zip(turns, places, strict=True)]
        found = pin.coal.DistanceResult()
        distance = pin.coal.distance(
            shapes[0], placed[0], shapes[1], placed[1], pin.coal.DistanceRequest(), found
        )
        assert abs(distance - over[0]) < 1e-12
        np.testing.assert_allclose(
            points[0, 0], found.getNearestPoint1() - radius * found.normal, atol=1e-12
        )
        np.testing.assert_allclose(
            points[0, 1], found.getNearestPoint2() + radius * found.normal, atol=1e-12
        )


def test_only_the_nearest_pairs_are_watched_in_their_order() -> None:
    over, near = np.array([0.03, 0.01, 0.5, 0.02, 0.04, 0.01]), np.zeros(6, dtype=np.intp)
    assert near[: find_near(over, 0.08, 9, near)].tolist() == [0, 1, 3, 4, 5]
    assert near[: find_near(over, 0.08, 3, near)].tolist() == [1, 3, 5]
    assert find_near(over, 0.0, 3, near) == 0


def test_hands_that_are_led_through_each_other_and_the_trunk_do_not_touch() -> None:
    robot = hd.load_robot("human28")
    tele = Teleoperation(robot, ("left_hand", "right_hand"), rate=200.0)
    start = {name: tele.pose(name) for name in tele.names}
    nearest = np.inf
    for tick in range(800):
        now = tick / 200.0
        for name, other in zip(tele.names, tele.names[::-1], strict=True):
            share = min(
                now / 2.0, 1.0
            )  # half a second in, the hands meet; then each goes on to the place of the other one, and into the trunk
            X = start[name].copy()
            X.translation = (
                (1.0 - share) * X.translation
                + share * start[other].translation
                + np.array([-0.2 * max(now - 3.0, 0.0), 0.0, 1e-4 * np.sin(now)])
            )
            tele.update(name, 0.0, X, now)
        frame = tele.step(now)
        nearest = min(nearest, frame.clearance)
        assert frame.certificate.holds
    assert nearest > -0.5 * KEPT
    assert np.abs(frame.v).max() < 1.0
