# SPDX-License-Identifier: Apache-2.0
"""A clip is checked at the door, and every refusal names row and column."""

import numpy as np
import pytest
from clips import smooth_clip

import humanoid_dynamics as hd
from humanoid_dynamics.motion.clip import Clip

ROBOT = hd.load_robot("human28")
TIMES = np.arange(5) / 50.0
REST = np.tile(ROBOT.posture, (5, 1))


def spoiled(row, column, value):
    q = REST.copy()
    q[row, column] = value
    return q


def test_clip_keeps_what_it_is_given_and_cannot_be_changed():
    clip = Clip(ROBOT, TIMES, REST, contacts={"left_foot": [1, 1, 0, 0, 1]})
    assert (len(clip), clip.duration, clip.rate, clip.is_even) == (
        5,
        0.08,
        pytest.approx(50.0),
        True,
    )
    assert clip.contacts["left_foot"].dtype == bool
    for array in (clip.times, clip.q, clip.contacts["left_foot"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    np.testing.assert_array_equal(clip.state(2).v, np.zeros(ROBOT.nv))


@pytest.mark.parametrize(
    ("times", "q", "message"),
    [
        (TIMES, spoiled(3, 9, np.nan), r"row 3, column 'left_hip_pitch': received nan"),
        (TIMES, spoiled(2, 6, 1.1), r"row 2, column 'base_qx..base_qw': quaternion of length 1.1"),
        (
            TIMES,
            REST[:, :-1],
            r"q has shape \(5, 34\), expected \(5, 35\): one row per instant, columns base_x, ",
        ),
        (TIMES[:2], REST[:2], "has 2 frames, at least 3"),
        (TIMES[[0, 1, 3, 2, 4]], REST, r"row 3, column 'time': 0.04 s comes after 0.06 s"),
        (np.array([0.0, 0.1, 0.1, 0.2, 0.3]), REST, "row 2, column 'time'"),
        (np.array([0.0, 0.1, np.inf, 0.2, 0.3]), REST, "row 2, column 'time': received inf"),
        (REST, REST, "expected one instant per row"),
        ("now", REST, "times: received str, expected numbers"),
    ],
)
def test_hostile_clip_is_refused_with_its_place(times, q, message):
    with pytest.raises(hd.ClipError, match=message):
        Clip(ROBOT, times, q)


def test_velocities_and_labels_are_checked_too():
    v = np.zeros((5, ROBOT.nv))
    v[4, 3] = np.inf
    with pytest.raises(hd.ClipError, match="row 4, column 'base_wx'"):
        Clip(ROBOT, TIMES, REST, v=v)
    with pytest.raises(hd.ClipError, match=r"a has shape \(5, 3\)"):
        Clip(ROBOT, TIMES, REST, a=np.zeros((5, 3)))
    with pytest.raises(
        hd.ClipError, match=r"no contact surface named 'left_fot'\. Did you mean 'left_foot'"
    ):
        Clip(ROBOT, TIMES, REST, contacts={"left_fot": np.ones(5)})
    with pytest.raises(hd.ClipError, match="column 'left_foot': contact labels of shape"):
        Clip(ROBOT, TIMES, REST, contacts={"left_foot": np.ones(4)})


def test_error_carries_its_place_as_data():
    with pytest.raises(hd.ClipError) as caught:
        Clip(ROBOT, TIMES, spoiled(1, 0, np.nan), origin="walk.csv")
    assert (caught.value.origin, caught.value.row, caught.value.column) == ("walk.csv", 1, "base_x")
    assert (
        str(caught.value)
        == "walk.csv: row 1, column 'base_x': received nan, expected a finite number"
    )


def test_numbers_too_large_to_compute_with_are_refused():
    """Their squares overflow, and what is written then is no number."""
    with pytest.raises(
        hd.ClipError,
        match=r"row 1, column 'base_x': received 1e\+300, expected at most 1e\+12 in size",
    ):
        Clip(ROBOT, TIMES, spoiled(1, 0, 1e300))


def test_uneven_steps_are_told():
    clip = smooth_clip(ROBOT, n=20)
    times = clip.times.copy()
    times[7] += 2e-4
    assert not clip.change(times=times).is_even
