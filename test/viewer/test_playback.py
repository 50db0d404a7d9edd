# SPDX-License-Identifier: Apache-2.0
"""What was recorded is shown as it was: poses, forces, centres of pressure, at any time."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import HumanoidDynamicsError, RecordError
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.simulation.recorder import Recorder, describe_run
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene

pytest.importorskip("trimesh", reason="the page's extra is not installed")

from humanoid_dynamics.viewer.playback import play_clip, play_record
from humanoid_dynamics.viewer.world_session import WorldSession


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> Path:
    scene = load_scene("pushed")
    world = build_world(scene)
    recorder = Recorder(world, about=describe_run(scene))
    run_scene(scene, world, 0.6)
    path = tmp_path_factory.mktemp("records") / "pushed.npz"
    recorder.save(path)
    return path


def test_a_record_shows_what_the_world_showed(record: Path) -> None:
    live, played = WorldSession("pushed"), play_record(record)
    live.play_events()
    for _ in range(11):
        live.advance(0.05)
    seen = live.picture()
    played.seek(seen.t)
    again = played.picture()
    assert again.t == pytest.approx(seen.t, abs=1e-9)
    assert again.poses == pytest.approx(seen.poses, abs=1e-12)
    assert again.com == pytest.approx(seen.com, abs=1e-12)
    lengths = [
        np.sort(np.linalg.norm(picture.forces[:, 1] - picture.forces[:, 0], axis=1))
        for picture in (seen, again)
    ]
    assert lengths[1] == pytest.approx(lengths[0], rel=1e-6)
    assert np.sort(again.cops[:, 0]) == pytest.approx(
        np.sort(seen.cops[:, 0]), abs=1e-3
    )  # on the sole, a tangential force has no say


def test_it_plays_stops_steps_and_begins_again(record: Path) -> None:
    played = play_record(record)
    played.advance(0.2)
    assert played.picture().t == pytest.approx(0.2, abs=1e-3)
    played.pause(True)
    played.advance(0.2)
    assert played.picture().t == pytest.approx(0.2, abs=1e-3)
    played.step()
    assert played.picture().t == pytest.approx(0.201, abs=1e-3)
    played.reset()
    assert played.picture().t == 0.0
    played.advance(10.0)
    assert played.picture().t == 0.0
    played.seek(1e9)
    assert played.picture().t == pytest.approx(played.offer.length)


def test_a_motion_with_its_reference_as_a_ghost() -> None:
    robot = hd.load_robot("human28")
    q = np.array(
        [pin.integrate(robot.model, robot.posture, k * 0.1 * np.eye(robot.nv)[0]) for k in range(5)]
    )
    clip, other = Clip(robot, np.arange(5) * 0.1, q), Clip(robot, np.arange(5) * 0.1, q[::-1])
    session = play_clip(clip, reference=other)
    session.seek(0.4)
    picture = session.picture()
    assert picture.ghost is not None
    assert picture.poses[0, 0] - picture.ghost[0, 0] == pytest.approx(0.4)


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "not.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(RecordError):
        play_record(path)


def test_what_is_over_cannot_be_pulled(record: Path) -> None:
    with pytest.raises(HumanoidDynamicsError, match="cannot be pulled"):
        play_record(record).pull("torso", np.zeros(3), np.ones(3))
