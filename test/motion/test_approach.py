# SPDX-License-Identifier: Apache-2.0
"""The way from the resting posture to the first posture of a motion."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.motion.approach import add_approach
from humanoid_dynamics.motion.playback import Playback, build_playback


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


def elsewhere(robot):
    """A motion that begins bent and turned, 3 m away and above the ground."""
    whole = build_playback(robot, "squat")
    rows = slice(60, 90)
    turned = pin.Quaternion(pin.exp3(np.array((0.0, 0.0, 1.0))))
    base = whole.base[rows].copy()
    base[:, :3] = base[:, :3] @ turned.matrix().T + np.array((3.0, 1.0, 0.1))
    base[:, 3:7] = [(turned * pin.Quaternion(row)).coeffs() for row in base[:, 3:7]]
    return Playback(
        "bent",
        whole.joints,
        whole.times[:30],
        {n: t[rows] for n, t in whole.tables.items()},
        base,
        None,
    )


def test_it_begins_and_ends_at_rest_and_keeps_the_soles_in_place(robot):
    playback = elsewhere(robot)
    found = add_approach(robot, playback)
    count = len(found.times) - len(playback.times)
    assert np.all(np.diff(found.times) > 0.0)
    np.testing.assert_allclose(
        found.tables["positions"][0],
        [robot.posture[robot.joint(n).q.start] for n in found.joints],
        atol=1e-9,
    )
    np.testing.assert_allclose(
        found.tables["positions"][count - 1], playback.tables["positions"][0], atol=1e-9
    )
    np.testing.assert_allclose(found.base[count - 1, :7], playback.base[0, :7], atol=1e-9)
    np.testing.assert_array_equal(found.base[count:], playback.base)
    for row in (0, count - 1):
        assert not found.tables["velocities"][row].any()
        np.testing.assert_allclose(found.base[row, 7:], 0.0, atol=1e-6)
    assert np.abs(found.tables["velocities"][:count]).max() <= 0.5 + 1e-9
    slopes = np.gradient(found.tables["positions"][:count], found.times[:count], axis=0)
    np.testing.assert_allclose(found.tables["velocities"][:count], slopes, atol=0.02)
    data, places = robot.data(), []
    for row in range(0, count, 5):
        q = np.array(robot.posture)
        q[:7] = found.base[row, :7]
        for name, position in zip(found.joints, found.tables["positions"][row], strict=True):
            q[robot.joint(name).q] = position
        pin.framesForwardKinematics(robot.model, data, q)
        places.append(
            np.mean(
                [data.oMf[robot.surface(name).frame].translation for name in robot.stance], axis=0
            )
        )
    np.testing.assert_allclose(places, np.tile(places[-1], (len(places), 1)), atol=1e-9)


def test_a_motion_without_a_free_base_is_left_alone(robot):
    playback = elsewhere(robot)
    alone = Playback(playback.name, playback.joints, playback.times, playback.tables, None, None)
    assert add_approach(robot, alone) is alone
