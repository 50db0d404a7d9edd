# SPDX-License-Identifier: Apache-2.0
"""Torques of whole motions: laws, other formulas, and a walk that another program has computed."""

import re

import numpy as np
import pinocchio as pin
import pytest
from clips import recorded, smooth_clip
from scipy.interpolate import make_interp_spline

import humanoid_dynamics as hd
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import complete_rates, smooth_bare
from humanoid_dynamics.motion.measured.force_plates import MeasuredWrenches, load_force_plates
from humanoid_dynamics.motion.measured.series import load_measured_motion
from humanoid_dynamics.motion.motion_torques import solve_motion

ROBOT = hd.load_robot("legs12")
FEET_NAMES = ("left_foot", "right_foot")
FEET = tuple(ROBOT.surfaces[name].link for name in FEET_NAMES)


def rms(table):
    return np.sqrt(np.mean(np.square(table), axis=0))


def smooth_wrenches(times, seed):
    """Force, point and moment of two plates as smooth functions of time, (n, 2, 9)."""
    rng = np.random.default_rng(seed)
    size, phase = rng.normal(size=(2, 9)), rng.uniform(0.0, 6.0, size=(2, 9))
    size[:, :3] *= 300.0
    return size * np.sin(2.0 * times[:, None, None] + phase)


def about_origin(parts):
    F, P, M = np.split(parts, 3, axis=-1)
    return np.concatenate((F, np.cross(P, F) + M), axis=-1)


# laws


def test_wrenches_that_change_the_momentum_leave_no_residual():
    """Force and moment about the centre of mass are the rate of linear and angular momentum, with gravity on the left."""
    clip = smooth_clip(ROBOT, n=20, rates=True)
    data, wrenches = ROBOT.data(), np.zeros((len(clip), 1, 6))
    for k, (q, v, a) in enumerate(zip(clip.q, clip.v, clip.a, strict=True)):
        rate = pin.computeCentroidalMomentumTimeVariation(ROBOT.model, data, q, v, a)
        force = rate.linear - ROBOT.mass * ROBOT.model.gravity.linear
        wrenches[k, 0] = np.r_[force, rate.angular + np.cross(data.com[0], force)]
    found = solve_motion(clip, MeasuredWrenches("law", clip.times, FEET[:1], wrenches))
    assert np.abs(found.residual).max() < 1e-9
    assert [name for name, _ in found.root] == [
        "force x",
        "force y",
        "force z",
        "moment x",
        "moment y",
        "moment z",
    ]


def test_where_a_wrench_acts_does_not_change_the_residual():
    clip = smooth_clip(ROBOT, n=10, rates=True)
    wrenches = about_origin(smooth_wrenches(clip.times, 1))[:, :1]
    left, right = (
        solve_motion(clip, MeasuredWrenches("law", clip.times, (link,), wrenches)) for link in FEET
    )
    assert np.abs(left.residual - right.residual).max() < 1e-9
    assert np.abs(left.tau - right.tau).max() > 1.0


def test_the_world_may_be_turned():
    """Turned about the vertical with its plates, a motion has the same torques and a turned residual."""
    clip = smooth_clip(ROBOT, n=10, rates=True)
    wrenches = about_origin(smooth_wrenches(clip.times, 2))
    X = pin.SE3(pin.utils.rotate("z", 0.7), np.array([1.0, -2.0, 0.3]))
    q = np.array(
        [np.r_[pin.SE3ToXYZQUAT(X * pin.XYZQUATToSE3(row[:7])), row[7:]] for row in clip.q]
    )
    turned = np.array([[X.act(pin.Force(w)).vector for w in row] for row in wrenches])
    one = solve_motion(clip, MeasuredWrenches("law", clip.times, FEET, wrenches))
    other = solve_motion(clip.change(q=q), MeasuredWrenches("law", clip.times, FEET, turned))
    assert np.abs(one.tau - other.tau).max() < 1e-9
    assert np.abs(one.residual[:, :3] @ X.rotation.T - other.residual[:, :3]).max() < 1e-9


# other formulas


def test_measured_wrenches_at_another_rate():
    """Plates at 1 kHz, motion at 60 Hz and not in step: RNEA less J'w of each plate's point, in flight RNEA alone."""
    times = 0.0103 + np.arange(40) / 60.0
    clip = smooth_clip(ROBOT, n=40, rate=60.0, rates=True).change(times=times)
    plates = np.arange(0.0, 0.7, 1e-3)
    landed = np.array([0.2, 0.45])
    parts = smooth_wrenches(plates, 3)
    parts[(plates > landed[0]) & (plates < landed[1])] = 0.0
    found = solve_motion(clip, MeasuredWrenches("plates", plates, FEET, about_origin(parts)))
    data, exact = ROBOT.data(), smooth_wrenches(times, 3)
    exact[(times > landed[0]) & (times < landed[1])] = 0.0
    for k, (q, v, a) in enumerate(zip(clip.q, clip.v, clip.a, strict=True)):
        expected = np.array(pin.rnea(ROBOT.model, data, q, v, a))
        pin.computeJointJacobians(ROBOT.model, data, q)
        pin.updateFramePlacements(ROBOT.model, data)
        for link, (F, P, M) in zip(FEET, exact[k].reshape(2, 3, 3), strict=True):
            frame = ROBOT.link_frame(link)
            J = pin.getFrameJacobian(
                ROBOT.model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )
            arm = P - data.oMf[frame].translation
            expected -= J.T @ np.r_[F, np.cross(arm, F) + M]
        assert np.abs(found.tau[k] - expected[6:]).max() < 1e-2, (
            k
        )  # what goes straight between two samples of 1 ms
    flying = (times > landed[0]) & (times < landed[1])
    assert flying.sum() > 10


def test_a_plate_that_bears_nothing_has_no_point():
    """A foot comes down from one row to the next: half-way it bears half the force where it will act, not half-way to the old point."""
    wrenches = about_origin(
        np.array([[[0, 0, 0, 9.0, 9.0, 9.0, 0, 0, 0]], [[0, 0, 100.0, 0.5, 0.1, 0, 0, 0, 2.0]]])
    )
    halfway = MeasuredWrenches("plate", np.array([0.0, 0.01]), FEET[:1], wrenches).at(
        np.array([0.005])
    )[0, 0]
    assert halfway == pytest.approx([0, 0, 50.0, 5.0, -25.0, 1.0], abs=1e-12)


def test_rates_that_are_not_given():
    """The window is exact to a high order; three-point differences are not; and it is told what was differentiated."""
    clip = smooth_clip(ROBOT, n=61, rate=60.0, rates=True)
    bare = complete_rates(clip.change(v=None, a=None))
    assert np.abs(bare.v - clip.v)[3:-3].max() < 1e-9
    assert np.abs(bare.a - clip.a)[3:-3].max() < 1e-6
    assert np.abs(bare.a - clip.a).max() < 1e-2
    assert bare.notices[-1].startswith(
        "velocities and accelerations were not given; configurations were differentiated"
    )
    half = complete_rates(clip.change(a=None))
    assert (half.v == clip.v).all()
    assert np.abs(half.a - clip.a)[3:-3].max() < 1e-9
    assert half.notices[-1].startswith(
        "accelerations were not given; velocities were differentiated"
    )
    assert complete_rates(clip) is clip
    uneven = np.sort(np.random.default_rng(1).uniform(0.0, 1.0, 61))
    again = smooth_clip(ROBOT, n=61)
    q, v, _ = (np.empty((61, n)) for n in (ROBOT.nq, ROBOT.nv, 1))
    d = np.random.default_rng(0).normal(scale=0.3, size=ROBOT.nv)
    for k, t in enumerate(uneven):
        q[k], v[k] = pin.integrate(ROBOT.model, ROBOT.posture, t**3 * d), 3 * t**2 * d
    assert np.abs(complete_rates(again.change(times=uneven, q=q)).v - v).max() < 1e-9


# rules


def standing_clip(n=30, **fields):
    """A robot that stays at rest."""
    return Clip(
        ROBOT,
        np.arange(n) / 100.0,
        np.tile(ROBOT.posture, (n, 1)),
        *np.zeros((2, n, ROBOT.nv)),
        **fields,
    )


def test_without_plates_a_rule_resolves_what_touches():
    labels = {"left_foot": np.arange(30) < 20, "right_foot": np.arange(30) >= 10}
    clip = standing_clip(contacts=labels)
    found = solve_motion(clip, rule="transition")
    assert np.abs(found.residual).max() < 1e-8
    assert np.abs(found.lacking).max() < 1e-9
    assert sum(found.statuses.values()) == 30
    for k in (0, 5, 12, 15, 18, 25, 29):
        u = min(max((k - 10) / 10, 0.0), 1.0)
        right = u**3 * (
            10.0 - 15.0 * u + 6.0 * u**2
        )  # loaded from its touch-down until the left foot lifts off
        answer = hd.inverse_dynamics(
            ROBOT,
            hd.State.at_rest(ROBOT),
            clip.a[k],
            FEET_NAMES,
            "transition",
            load=[1.0 - right, right],
        )
        assert np.abs(answer.tau - found.tau[k]).max() < 1e-9


def test_one_plate_measured_the_other_foot_by_a_rule():
    """What the left foot was measured to carry is taken off, the right foot carries the rest: nothing is missing."""
    clip = standing_clip(contacts={name: np.ones(30, dtype=bool) for name in FEET_NAMES})
    parts = np.zeros((30, 1, 9))
    parts[:, 0, 2], parts[:, 0, 4] = 0.4 * ROBOT.mass * 9.81, 0.1
    measured = MeasuredWrenches("left", clip.times, FEET[:1], about_origin(parts))
    alone = solve_motion(clip, measured)
    assert alone.residual[0, 2] == pytest.approx(0.6 * ROBOT.mass * 9.81)
    both = solve_motion(clip, measured, "minimum_torque")
    assert np.abs(both.residual).max() < 1e-8
    short = MeasuredWrenches("left", clip.times[:10], FEET[:1], about_origin(parts)[:10])
    with pytest.raises(
        hd.ClipError,
        match=r"row 11, column 'time': 0\.11 s was not measured: left goes from 0 s to 0\.09 s",
    ):
        solve_motion(clip, short)
    later = solve_motion(clip, short, "transition")
    assert (
        "not measured: 19 of 30 frames, in which the rule takes all contacts" in later.clip.notices
    )
    with pytest.raises(
        hd.ClipError,
        match=r"row 0, column 'time': 5 s was not measured: left goes from 0 s to 0\.09 s",
    ):
        solve_motion(clip.change(times=clip.times + 5.0), short, "transition")
    assert np.abs(later.residual).max() < 1e-8
    expected = hd.inverse_dynamics(
        ROBOT, hd.State.at_rest(ROBOT), clip.a[0], FEET_NAMES, "transition"
    ).tau
    assert np.abs(later.tau[-1] - expected).max() < 1e-9


def test_the_first_fault_tells_what_was_measured_and_not_that_it_bears_nothing():
    """Plates that end early, and leave a tenth of the weight where they bear: a rule has no contact there."""
    clip = standing_clip(contacts={name: np.ones(30, dtype=bool) for name in FEET_NAMES})
    parts = np.zeros((10, 2, 9))
    parts[:, 0, 2], parts[:, 0, 4] = 0.9 * ROBOT.mass * 9.81, 0.1
    found = solve_motion(
        clip,
        MeasuredWrenches("plates", clip.times[:10], FEET, about_origin(parts)),
        "minimum_torque_limited",
    )
    assert found.statuses["UNSUPPORTED"] == 11
    assert found.first_fault.startswith("at 0.000 s: ")
    assert "bears nothing" not in found.first_fault
    assert found.first_fault.endswith(
        f"; measured there: {0.9 * ROBOT.mass * 9.81:.4g} N on {FEET[0]}, 0 N on {FEET[1]}"
    )
    falling = np.zeros((30, ROBOT.nv))
    falling[:, 2] = -20.0
    pulled = solve_motion(clip.change(a=falling), None, "minimum_torque_limited")
    assert "left_foot: bears nothing, and cannot pull" in pulled.first_fault
    assert "measured" not in pulled.first_fault


def test_rule_is_not_asked_where_all_contacts_were_measured():
    clip = standing_clip(contacts={name: np.ones(30, dtype=bool) for name in FEET_NAMES})
    parts = np.zeros((30, 2, 9))
    parts[:, :, 2] = 0.4 * ROBOT.mass * 9.81
    measured = MeasuredWrenches("plates", clip.times, FEET, about_origin(parts))
    alone, found = solve_motion(clip, measured), solve_motion(clip, measured, "transition")
    np.testing.assert_array_equal(found.tau, alone.tau)
    np.testing.assert_array_equal(found.residual, alone.residual)
    assert (found.rule, found.statuses, found.first_fault) == ("", {}, "")
    assert (
        found.clip.notices[-1]
        == "no contact is left for rule transition: those that touch were measured"
    )


def test_the_foot_that_was_not_measured_bears_what_is_missing():
    """Half the weight, then all of it, was measured under the left foot: the lifted right one bears the rest, then none."""
    clip = standing_clip(n=40)
    lifted = np.array(clip.q)
    lifted[:, ROBOT.joint("right_knee").q] += 0.8
    parts = np.zeros((40, 1, 9))
    parts[:, 0, 2] = np.where(np.arange(40) < 20, 0.5, 1.0) * ROBOT.mass * 9.81
    found = solve_motion(
        clip.change(q=lifted),
        MeasuredWrenches("left", clip.times, FEET[:1], about_origin(parts)),
        "minimum_torque",
    )
    right = found.wrenches[:, found.surfaces.index("right_foot"), 2]
    assert np.abs(right[:20] - 0.5 * ROBOT.mass * 9.81).max() < 1e-6
    assert np.abs(right[20:]).max() == 0.0
    assert np.abs(found.residual[:20]).max() < 1e-6
    assert any(
        "right_foot from the weight that was not measured" in notice
        for notice in found.clip.notices
    )


def test_a_body_that_hangs_by_measured_hands_does_not_stand():
    """The plates bear all of the weight: rules find nothing for the feet, and what was measured stays as it is."""
    human = hd.load_robot("human28")
    clip = Clip(
        human, np.arange(30) / 100.0, np.tile(human.posture, (30, 1)), *np.zeros((2, 30, human.nv))
    )
    palms = tuple(human.surfaces[name].link for name in ("left_palm", "right_palm"))
    parts = np.zeros((30, 2, 9))
    parts[:, :, 2] = 0.5 * human.mass * 9.81
    measured = MeasuredWrenches("bar", clip.times, palms, about_origin(parts))
    found, alone = (solve_motion(clip, measured, rule) for rule in ("minimum_torque", None))
    assert np.abs(found.tau - alone.tau).max() < 1e-9
    assert np.abs(found.residual - alone.residual).max() < 1e-9
    assert np.abs(found.residual[:, :3]).max() < 1e-8


def test_wrenches_that_pass_their_link_far_away_are_told():
    """A foot that is pushed where the other one is, or by a table in millimetres; never one that bears almost nothing."""
    clip, parts = standing_clip(), np.zeros((30, 2, 9))
    data = ROBOT.data()
    pin.framesForwardKinematics(ROBOT.model, data, ROBOT.posture)
    for column, link in enumerate(FEET):
        parts[:, column, 3:6] = data.oMf[ROBOT.link_frame(link)].translation + np.array(
            [0.2, 0.0, 0.0]
        )
    parts[:, :, 2] = 0.5 * ROBOT.mass * 9.81

    def doubts(parts, word="passes it"):
        notices = solve_motion(
            clip, MeasuredWrenches("plates", clip.times, FEET, about_origin(parts))
        ).clip.notices
        return [notice for notice in notices if word in notice]

    assert doubts(parts) == []
    far = parts.copy()
    far[7, 1, 3] += 2.0
    assert doubts(far) == [
        f"the wrench on {FEET[1]} passes it 2.2 m away at 0.070 s; look at the link, units, axes, and the quaternion, which is x, y, z, w"
    ]
    far[7, 1, 2] = 1.0
    assert doubts(far) == []
    assert doubts(-parts, "pulls") == [
        f"what was measured pulls the robot down, by {9.81 * ROBOT.mass:.4g} N on average; expected the force on the robot"
    ]


def test_a_robot_in_the_air_has_no_contact():
    """It falls as gravity has it: no force, no torque, whatever its soles do."""
    n = 40
    clip = standing_clip(n)
    a = np.zeros((n, ROBOT.nv))
    a[:, 2] = np.where(np.arange(n) < 25, 0.0, -9.81)
    found = solve_motion(clip.change(a=a), rule="minimum_torque")
    assert np.abs(found.tau[30:]).max() < 1e-9
    assert np.abs(found.residual).max() < 1e-8
    assert np.abs(found.tau[:20]).max() > 1.0
    assert any("none in 15 frames" in notice for notice in found.clip.notices)


def test_what_cannot_be_computed_is_refused():
    clip = smooth_clip(ROBOT, n=5, rates=True)
    with pytest.raises(hd.UnknownNameError, match="no rule named 'best'"):
        solve_motion(clip, rule="best")
    with pytest.raises(hd.ClipError, match="row 3, column 'base_vx': received 1e"):
        solve_motion(
            clip.change(v=np.where(np.arange(5)[:, None] == 3, 1e200, clip.v)), rule="transition"
        )


def test_a_fixed_base_has_no_residual():
    robot = hd.load_robot("biped7", root="fixed")
    found = solve_motion(smooth_clip(robot, n=5, rates=True), rule="minimum_torque")
    assert found.root == ()
    assert found.residual.shape == (5, 0)
    assert len(found.columns) == robot.nv


# a measured walk, and the torques another program found


@pytest.fixture(scope="module")
def walk():
    robot = hd.load_robot(str(recorded("human_id/gait2392_walk.urdf")))
    q, v, a = (recorded(f"human_id/gait2392_walk_{letter}.csv") for letter in "qva")
    return robot, load_measured_motion(q, robot, v, a)


def read_columns(path, skip=0):
    lines = path.read_text().splitlines()[skip:]
    names = lines[0].replace(",", " ").split()
    values = np.array(
        [line.replace(",", " ").split() for line in lines[1:] if line.strip()], dtype=float
    )
    return dict(zip(names, values.T, strict=True))


def coordinate_moments(found):
    """Moments of the coordinates of OpenSim: a coupled one moves several joints, the knee also its two translations."""
    coupling = read_columns(recorded("human_id/gait2392_walk_coupling.csv"))
    moments = {}
    for name, column in zip(found.columns, found.tau.T, strict=True):
        coordinate = name.split("__")[1]
        moments[coordinate] = moments.get(coordinate, 0.0) + coupling[name] * column
    return moments


def measured_wrenches(robot):
    return load_force_plates(
        recorded("human_id/gait2392_walk_grf.csv"), robot, {"R": "calcn_r", "L": "calcn_l"}
    )


def test_a_measured_walk_as_opensim_has_it(walk):
    """Each joint to 0.05 N·m; base force to that of its gravity, 9.80665; OpenSim's x, y, z are forward, up, right."""
    robot, clip = walk
    found = solve_motion(clip, measured_wrenches(robot))
    reference = read_columns(recorded("human_id/gait2392_walk_osim_id.csv"))
    moments = coordinate_moments(found)
    assert len(moments) == 17
    for coordinate, moment in moments.items():
        assert rms(moment - reference[f"{coordinate}_moment"]) < 0.05, coordinate
    for axis, sign, theirs in ((0, 1.0, "tx"), (2, 1.0, "ty"), (1, -1.0, "tz")):
        assert rms(found.residual[:, axis] - sign * reference[f"pelvis_{theirs}_force"]) < 0.3
    assert rms(found.residual)[:3] == pytest.approx([20.37, 35.52, 35.03], abs=0.01)


def test_the_published_solution_of_that_walk(walk):
    """The one that came with the measurement, from an older version of the program: apart by less than 1 N·m."""
    robot, clip = walk
    published = read_columns(recorded("human_id/published_InverseDynamicsOutput.sto"), skip=6)
    rows = [int(np.argmin(np.abs(published["time"] - t))) for t in clip.times]
    assert np.abs(published["time"][rows] - clip.times).max() < 1e-5
    for coordinate, moment in coordinate_moments(
        solve_motion(clip, measured_wrenches(robot))
    ).items():
        assert rms(moment - published[f"{coordinate}_moment"][rows]) < 0.9, coordinate


def test_a_rule_leaves_measured_feet_alone(walk):
    """Plates act on the heels, the soles that are assumed belong to the ankles: one foot, so that the rule has nothing to resolve."""
    robot, clip = walk
    measured = measured_wrenches(robot)
    found, alone = solve_motion(clip, measured, "transition"), solve_motion(clip, measured)
    assert np.abs(found.residual - alone.residual).max() < 1e-9
    assert np.abs(found.tau - alone.tau).max() < 1e-9
    one = MeasuredWrenches("right", measured.times, measured.links[:1], measured.wrenches[:, :1])
    standing = solve_motion(clip, one, "transition")
    assert rms(solve_motion(clip, one).residual)[2] > 400.0
    assert rms(standing.residual)[2] < 10.0
    assert any(
        notice.startswith("left_foot was guessed from the length of the leg")
        for notice in standing.clip.notices
    )


def test_that_walk_without_rates(walk):
    """Differentiated configurations of 60 Hz: within 0.2 N·m of those that came with the walk."""
    robot, clip = walk
    measured = measured_wrenches(robot)
    given, bare = (
        coordinate_moments(solve_motion(c, measured)) for c in (clip, clip.change(v=None, a=None))
    )
    worst = max(rms(bare[name] - given[name]) for name in given)
    assert worst < 0.2
    unloaded = solve_motion(
        clip, MeasuredWrenches("nothing", clip.times, ("calcn_r",), np.zeros((len(clip), 1, 6)))
    )
    assert rms(unloaded.residual[:, 2]) > 600.0


def sampled_anew(clip, rate):
    """The walk as a spline through its samples, whose derivatives are known, at another rate."""
    model, middle, e = clip.robot.model, clip.q[len(clip) // 2], 1e-4
    path = make_interp_spline(clip.times, [pin.difference(model, middle, q) for q in clip.q], 5)
    times = np.arange(clip.times[0], clip.times[-1], 1.0 / rate)
    before, q, after = (
        np.array([pin.integrate(model, middle, path(t + d)) for t in times]) for d in (-e, 0.0, e)
    )
    ahead = np.array([pin.difference(model, *pair) for pair in zip(q, after, strict=True)])
    back = np.array([pin.difference(model, *pair) for pair in zip(q, before, strict=True)])
    return Clip(clip.robot, times, q, (ahead - back) / (2.0 * e), (ahead + back) / e**2)


@pytest.mark.parametrize("digits", [6, 8])
def test_that_walk_at_a_kilohertz_in_rounded_numbers(walk, digits):
    """Seven samples would make 60 N·m of six digits; splines do not hear them."""
    robot, clip = walk
    exact, measured = sampled_anew(clip, 1000.0), measured_wrenches(robot)
    q = np.array([[float(f"{x:.{digits}g}") for x in row] for row in exact.q])
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    bare, given = solve_motion(Clip(robot, exact.times, q), measured), solve_motion(exact, measured)
    assert any(
        "differentiated by splines through noise of about" in notice for notice in bare.clip.notices
    )
    assert rms(bare.tau - given.tau).max() < 0.1


@pytest.mark.parametrize(
    ("rate", "noise", "most"),
    [(1000.0, 1e-5, 0.4), (1000.0, 1e-4, 1.5), (250.0, 1e-4, 2.0), (100.0, 1e-4, 3.0)],
)
def test_noise_is_taken_away_to_the_ends_and_what_is_left_told(walk, rate, noise, most):
    """White noise in all joints: better than any low-pass that somebody would choose, at any rate, with no cut-off named."""
    robot, clip = walk
    exact, measured, rng = (
        sampled_anew(clip, rate),
        measured_wrenches(robot),
        np.random.default_rng(8),
    )
    q = np.array(
        [pin.integrate(robot.model, row, noise * rng.standard_normal(robot.nv)) for row in exact.q]
    )
    noisy, given = Clip(robot, exact.times, q), solve_motion(exact, measured)
    bare = solve_motion(noisy, measured)
    off = rms(bare.tau - given.tau).max()
    assert off < most
    told = bare.clip.notices[0]
    assert float(re.search("noise of about ([^ ]+) rad or m", told).group(1)) == pytest.approx(
        noise, rel=0.2
    )
    assert ("causes an acceleration error" in told) == (noise > 5e-5)
    if noise > 5e-5:
        assert off < 0.9 * min(
            rms(solve_motion(smooth_bare(noisy, cutoff), measured).tau - given.tau).max()
            for cutoff in (8.0, 12.0, 17.0)
        )
