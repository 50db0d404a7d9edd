# SPDX-License-Identifier: Apache-2.0
"""Ground that is not level."""

import numpy as np
import pinocchio as pin
import pytest
from independent_scorer import Moment, Scorer

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.filtering import filter_clip
from humanoid_dynamics.filtering.clip_filter import LADDER
from humanoid_dynamics.filtering.live.motion import LiveMotion
from humanoid_dynamics.filtering.slope import GroundSlope, normal_of
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle

STEEP = np.deg2rad(5.0)
FIRST = LADDER[:1]


def faults(robot, frames):
    """Return what a second opinion, in axes of the world, says of frames."""
    soles = find_soles(robot)
    scorer = Scorer(
        robot,
        [s.frame for s in soles],
        [np.array(s.vertices) for s in soles],
        [s.friction for s in soles],
    )
    return scorer.score([Moment(f.q, f.v, f.vdot, f.tau, f.wrenches) for f in frames], 0.005)


def sole_normals(robot, frames):
    data = robot.data()
    for frame in frames:
        pin.framesForwardKinematics(robot.model, data, frame.q)
        for foot, sole in enumerate(find_soles(robot)):
            if frame.stands[foot]:
                yield data.oMf[sole.frame].rotation[:, 2]


@pytest.mark.parametrize("angle", [STEEP, pytest.param(-STEEP, marks=pytest.mark.slow)])
def test_walk_on_a_slope_passes_through(angle):
    robot = hd.load_robot("human28")
    clip, normal = plan_walk(robot, WalkStyle(steps=1, slope=angle)).clip, normal_of(angle)
    found = filter_clip(robot, clip, ladder=FIRST, normal=normal)
    assert found.report.finished
    assert found.report.all_limits == 1.0
    assert np.rad2deg(found.report.joint_rms) < 0.5
    assert faults(robot, found.frames)["any"] == 0.0
    assert max(np.linalg.norm(n - normal) for n in sole_normals(robot, found.frames[::20])) < 1e-3
    level = filter_clip(robot, clip, ladder=FIRST)  # control: nobody said that the ground is aslant
    assert max(np.linalg.norm(n - normal) for n in sole_normals(robot, level.frames[::20])) > 0.05


def test_stream_on_a_slope_stands_on_it():
    """Pieces of a reference in, frames in axes of the world out: soles on the slope, and the same as off line."""
    robot, normal = hd.load_robot("human28"), normal_of(STEEP)
    q = GroundSlope(robot, normal).to_world(robot.posture)
    live = LiveMotion(robot, delay=1.0, normal=normal)
    base = np.concatenate((q[:7], np.zeros(6)))
    names = [joint.name for joint in robot.joints[1:]]
    live.put_joints(names, [0, 10**11], {"positions": np.array([q[7:]] * 2)}, 0.0)
    live.put_base([0, 10**11], np.array([base] * 2), 0.0)
    frames = [command.frame for k in range(400) for command in live.advance(0.005 * k)]
    assert len(frames) > 50
    assert max(np.linalg.norm(n - normal) for n in sole_normals(robot, frames[::10])) < 1e-6
    assert faults(robot, frames[1:])["any"] == 0.0


@pytest.mark.parametrize(("slope", "uphill"), [(0.1, 0.0), (0.2, 1.0), (-0.3, 2.5)])
def test_normal_of_a_slope(slope, uphill):
    n, ahead = normal_of(slope, uphill), np.array((np.cos(uphill), np.sin(uphill), 0.0))
    assert np.linalg.norm(n) == pytest.approx(1.0)
    assert ahead @ n == pytest.approx(-np.sin(slope))  # who goes ahead goes up
    assert np.cross(ahead, (0.0, 0.0, 1.0)) @ n == pytest.approx(0.0)


def test_gravity_in_axes_of_the_ground_is_the_same_gravity():
    robot, rng = hd.load_robot("human28"), np.random.default_rng(0)
    slope = GroundSlope(robot, (0.1, -0.2, 1.0))
    q, v, a = (
        pin.integrate(robot.model, robot.posture, rng.normal(size=robot.nv)),
        rng.normal(size=robot.nv),
        rng.normal(size=robot.nv),
    )
    tilted, model = slope.to_ground(q), slope.robot.model
    np.testing.assert_allclose(
        pin.rnea(model, model.createData(), tilted, v, a),
        pin.rnea(robot.model, robot.data(), q, v, a),
        rtol=0,
        atol=1e-9,
    )
    np.testing.assert_allclose(slope.to_world(tilted)[:3], q[:3], atol=1e-12)


@pytest.mark.parametrize(
    "normal", [(0.0, 0.0, 0.0), (0.0, 1.0, 0.1), (np.nan, 0.0, 1.0), (0.0, 1.0)]
)
def test_what_is_no_ground_is_refused(normal):
    with pytest.raises(ShapeError, match="normal of the ground"):
        GroundSlope(hd.load_robot("human28"), normal)
