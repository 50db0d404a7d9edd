# SPDX-License-Identifier: Apache-2.0
"""The gate of the motion benchmark fails on what is worse, and on nothing else."""

import copy

import pytest

from benchmarks.motion import gate
from benchmarks.motion.record import load_record, replace_part
from benchmarks.motion.runs import Run, is_preserved
from humanoid_dynamics.errors import HumanoidDynamicsError


def run(
    case, variant="nominal", *, finished=True, stride=0.9, limits=1.0, preserved=True, kind="walk"
):
    measures = {"stride": stride, "joint_rms": 5e-4}
    return Run(
        case,
        kind,
        variant,
        {
            "finished": finished,
            "preserved": preserved,
            "all_limits": limits,
            "measures": measures,
            "broken": [],
        },
    )


ANSWERS = {"values": [[1.0, -2.0, 300.0], [0.5, 0.25, 200.0]], "statuses": ["OK", "OK"]}


def test_answers_are_compared_to_nine_digits_of_their_size():
    near, far, other = (copy.deepcopy(ANSWERS) for _ in range(3))
    near["values"][0][0] += 1e-8
    far["values"][1][1] += 1e-6
    other["statuses"][0] = "infeasible_contact"
    assert not gate.check_answers(ANSWERS, near).failures
    assert gate.check_answers(ANSWERS, far).failures
    assert gate.check_answers(ANSWERS, other).failures
    assert gate.check_answers(
        ANSWERS, {"values": [[float("nan")] * 3] * 2, "statuses": ["OK", "OK"]}
    ).failures
    assert gate.check_answers(ANSWERS, {"values": [], "statuses": []}).failures


def test_scenes_keep_their_states_before_the_first_impact():
    old = {"swing": {"failed": [], "states": [[0.1, 1.0, 2.0], [0.2, 1.5, 2.5]]}}
    assert not gate.check_scenes(
        old, {"swing": {"failed": [], "states": [[0.1, 1.0, 2.0], [0.2, 1.5, 2.5 + 1e-7]]}}
    ).failures
    assert gate.check_scenes(
        old, {"swing": {"failed": [], "states": [[0.1, 1.0, 2.0], [0.2, 1.5, 2.5 + 1e-5]]}}
    ).failures
    assert gate.check_scenes(old, {"swing": {"failed": [], "states": [[0.1, 1.0, 2.0]]}}).failures
    assert gate.check_scenes(
        old, {"swing": {"failed": ["energy"], "states": old["swing"]["states"]}}
    ).failures
    assert gate.check_scenes(old, {}).failures


def test_every_hostile_stream_must_hold_and_recover():
    old = {"jerk 0": {"holds": True, "recovery": 0.1}}
    assert not gate.check_streams(old, {"jerk 0": {"holds": True, "recovery": 0.4}}).failures
    assert gate.check_streams(old, {"jerk 0": {"holds": False, "recovery": 0.1}}).failures
    assert gate.check_streams(old, {"jerk 0": {"holds": True, "recovery": 0.6}}).failures
    assert gate.check_streams(old, {}).failures


def test_a_frame_outside_its_limits_fails():
    assert gate.check_clips([run("a")], [run("a", limits=0.999)]).failures


def test_a_loss_of_runs_fails_where_it_is_significant():
    old = [run(f"c{k}") for k in range(60)]
    worse = [run(f"c{k}", finished=k >= 8) for k in range(60)]
    chance = [run(f"c{k}", finished=k >= 2) for k in range(60)]
    assert gate.check_clips(old, worse).failures
    assert not gate.check_clips(old, chance).failures
    assert gate.check_clips(old, chance).notices
    assert not gate.check_clips(old, old).failures


def test_a_shorter_stride_fails():
    old = [run(f"c{k}", stride=0.8) for k in range(12)]
    assert gate.check_clips(old, [run(f"c{k}", stride=0.75) for k in range(12)]).failures
    assert not gate.check_clips(old, [run(f"c{k}", stride=0.79) for k in range(12)]).failures


def test_controls_stay_as_they_are():
    spoilt = run("sr1/walk", kind="control")
    spoilt.report["measures"]["joint_rms"] = 2e-3
    assert gate.check_clips([run("sr1/walk", kind="control")], [spoilt]).failures


def test_a_clip_is_preserved_where_it_is_as_it_is_and_under_four_of_five_perturbations():
    names = ("speed", "foot_height", "mass", "rate", "start")
    runs = [run("a"), *(run("a", name, preserved=name != "mass") for name in names)]
    assert is_preserved(runs)
    assert not is_preserved([run("a", preserved=False), *runs[1:]])
    assert not is_preserved(
        [run("a"), *(run("a", name, preserved=name not in {"mass", "rate"}) for name in names)]
    )
    assert not is_preserved([])


def test_parts_of_the_record_are_replaced_one_by_one(tmp_path):
    path = tmp_path / "record.json.gz"
    replace_part("scenes", {"swing": 1}, path)
    replace_part("streams", {"jerk 0": 2}, path)
    first = path.read_bytes()
    replace_part("streams", {"jerk 0": 2}, path)
    assert path.read_bytes() == first
    assert load_record(path) == {"scenes": {"swing": 1}, "streams": {"jerk 0": 2}}
    with pytest.raises(HumanoidDynamicsError, match="expected one of"):
        replace_part("everything", 0, path)
