# SPDX-License-Identifier: Apache-2.0
"""Referees: a consistent motion needs little of the virtual wrench, an impossible one needs much; a policy drives the plant."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.motion.clip import Clip

pytest.importorskip("mujoco", reason="MuJoCo is not installed")

from benchmarks.motion.referees import (
    Conditions,
    compare_pairs,
    draw_conditions,
    score_virtual_wrench,
)
from benchmarks.motion.tracker import KEYS, TERMS, Tracker

TIMES = np.arange(0.0, 0.6, 1.0 / 30.0)


def standing(robot, lift=0.0):
    q = np.tile(robot.posture, (len(TIMES), 1))
    q[:, 2] += lift * np.linspace(0.0, 1.0, len(TIMES))
    return Clip(robot, TIMES, q)


def test_floating_motion_needs_its_weight_and_standing_needs_next_to_nothing():
    robot = hd.load_robot("g1")
    (stands,) = score_virtual_wrench(robot, standing(robot), [Conditions(0)])
    (floats,) = score_virtual_wrench(robot, standing(robot, 0.4), [Conditions(0)])
    assert stands < 0.05
    assert floats > 0.5


def test_seeds_pair_conditions():
    assert draw_conditions(3) == draw_conditions(3) != draw_conditions(4)
    assert draw_conditions(0) == Conditions(0)


def test_sign_test_counts_pairs_that_differ():
    found = compare_pairs([1.0, 1.0, 1.0, 1.0], [0.5, 0.5, 1.0, 2.0], lower_is_better=True)
    assert (found.better, found.worse) == (2, 1)
    assert compare_pairs([1.0], [1.0], lower_is_better=True).p_value == 1.0


def write_policy(path, robot, **changes):
    """Write a policy that always asks for the standing posture."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    names = [joint.name for joint in robot.joints[1:]]
    n = len(names)
    width = 2 * n + 3 + 6 + 3 + 3 + 3 * n
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    zero = helper.make_tensor("weights", kind, (width, n), np.zeros(width * n))
    node = helper.make_node("MatMul", ["obs", "weights"], ["actions"])
    ends = [
        helper.make_tensor_value_info(name, kind, (1, size))
        for name, size in (("obs", width), ("actions", n))
    ]
    graph = helper.make_graph([node], "policy", ends[:1], ends[1:], [zero])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    numbers = {"joint_stiffness": 200.0, "joint_damping": 5.0, "action_scale": 0.25}
    words = {key: ",".join([f"{value}"] * n) for key, value in numbers.items()}
    words |= {
        "joint_names": ",".join(names),
        "default_joint_pos": ",".join(f"{value:.9f}" for value in robot.posture[7:]),
    }
    words |= {"observation_names": ",".join(TERMS), "anchor_body_name": "pelvis"} | changes
    helper.set_model_props(model, {key: value for key, value in words.items() if value})
    path.write_bytes(model.SerializeToString())
    return path


def test_policy_tracks_standing_and_loses_a_motion_that_leaves(tmp_path):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    robot = hd.load_robot("g1")
    tracker = Tracker(write_policy(tmp_path / "policy.onnx", robot), robot)
    (stands,) = tracker.track(standing(robot), [Conditions(0)])
    (lost,) = tracker.track(standing(robot, 0.6), [Conditions(0)])
    assert not stands.fell
    assert stands.share == 1.0
    assert lost.fell
    assert lost.share < 1.0


@pytest.mark.parametrize(
    ("changes", "problem"),
    [({key: ""}, "lack") for key in KEYS[:2]]
    + [
        ({"observation_names": "command,smell"}, "unknown observations smell"),
        ({"joint_names": "elbow_of_another"}, "has no joints"),
    ],
)
def test_policy_that_does_not_fit_is_refused(tmp_path, changes, problem):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    robot = hd.load_robot("g1")
    path = write_policy(tmp_path / "policy.onnx", robot, **changes)
    with pytest.raises(HumanoidDynamicsError, match=problem):
        Tracker(path, robot)


def test_file_that_is_no_policy_is_refused(tmp_path):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    path = tmp_path / "policy.onnx"
    path.write_bytes(b"not a model")
    with pytest.raises(HumanoidDynamicsError, match="onnxruntime refuses"):
        Tracker(path, hd.load_robot("g1"))
