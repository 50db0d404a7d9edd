# SPDX-License-Identifier: Apache-2.0
"""Faults of references and poses, one by one, over the real middleware: what the filter says and sends after each."""

import numpy as np
import pinocchio as pin
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from geometry_msgs.msg import PoseStamped  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from wires import Clock, Wires  # noqa: E402

from humanoid_dynamics.nodes.dynamics_filter import DynamicsFilterNode  # noqa: E402
from humanoid_dynamics.nodes.messages import (  # noqa: E402
    seconds,
    write_base_trajectory,
    write_joint_trajectory,
    write_odometry,
    write_pose,
)

OUT = "filtered/joints"
PERIOD = 0.01  # s


pytestmark = pytest.mark.usefixtures("ros")


def make(**parameters):
    wires = Wires(
        DynamicsFilterNode, robot="human28", rate=100.0, publish_lead_time=0.05, **parameters
    )
    wires.clock = Clock(wires.node, PERIOD)
    wires.begin()
    robot = wires.node.robot
    wires.names = list(wires.node._names)
    wires.posture = np.array([robot.posture[robot.joint(name).q.start] for name in wires.names])
    wires.rest = np.concatenate((robot.posture[:7], np.zeros(6)))
    return wires


def restart(wires):
    with wires.node.lock:
        wires.node.trigger_deactivate()
        wires.node.trigger_activate()
    wires.expect("WAITING")


def shown(wires, status, reason=""):
    """Within two periods the node says so, and why."""
    wires.clock.run(2)
    assert wires.node.status == status, (wires.node.status, wires.node.reason)
    assert reason in wires.node.reason
    wires.expect(status)


# A reference.


@pytest.fixture(scope="module")
def motion(ros):
    wires = make()
    yield wires
    wires.end()


def joints(wires, *, begin=0.0, times=(0.0, 60.0), names=None, positions=None, velocities=None):
    names = wires.names if names is None else names
    positions = np.array([wires.posture] * len(times)) if positions is None else positions
    tables = {"positions": positions} | ({} if velocities is None else {"velocities": velocities})
    return write_joint_trajectory(
        names, wires.clock.t + begin, np.array(times, dtype=float), tables
    )


def base(wires, *, begin=0.0, times=(0.0, 60.0), row=None):
    row = wires.rest if row is None else row
    return write_base_trajectory(
        "pelvis",
        wires.clock.t + begin,
        np.array(times, dtype=float),
        np.array([row] * len(times), dtype=float),
    )


def take(wires, topic, message):
    """Publish, and wait until the node has heard it."""
    node, heard = wires.node, []
    live = node._motion
    put = live.put_joints if topic == "joints" else live.put_base
    setattr(live, put.__name__, lambda *arguments: heard.append(put(*arguments)))
    wires.out[f"reference/{topic}"].publish(message)
    wires.wait(lambda: heard, "the piece is heard")
    setattr(live, put.__name__, put)
    return heard[0]


def follow(wires):
    """Bring the filter to where it follows and sends."""
    restart(wires)
    assert take(wires, "joints", joints(wires))
    assert take(wires, "base", base(wires))
    wires.clock.run(130)
    wires.expect("FOLLOWING")
    return wires.node._sent


def turned(wires, axis, angle):
    return np.concatenate(
        (wires.rest[:3], pin.Quaternion(pin.exp3(angle * np.array(axis))).coeffs(), np.zeros(6))
    )


def moved(wires, way):
    return np.concatenate((wires.rest[:3] + way, wires.rest[3:]))


def spoilt(values, number):
    values = np.array(values, dtype=float)
    values[..., 3] = number
    return values


def both(wires, value):
    return np.array([wires.posture, wires.posture]) * 0.0 + value


REFERENCES = {
    "not a number": (
        "joints",
        lambda w: joints(w, positions=both(w, np.nan)),
        "REFERENCE_REJECTED",
        "not finite",
    ),
    "velocity infinite": (
        "joints",
        lambda w: joints(w, velocities=both(w, np.inf)),
        "REFERENCE_REJECTED",
        "not finite",
    ),
    "unknown joint": (
        "joints",
        lambda w: joints(w, names=["wing", *w.names[1:]]),
        "REFERENCE_REJECTED",
        "wing",
    ),
    "a joint twice": (
        "joints",
        lambda w: joints(w, names=[w.names[1], *w.names[1:]]),
        "REFERENCE_REJECTED",
        "twice",
    ),
    "too few positions": (
        "joints",
        lambda w: joints(w, positions=np.zeros((2, 5))),
        "REFERENCE_REJECTED",
        "shape",
    ),
    "no points": (
        "joints",
        lambda w: joints(w, times=(), positions=np.zeros((0, 28))),
        "REFERENCE_REJECTED",
        "shape (0, 0)",
    ),
    "times that stand still": (
        "joints",
        lambda w: joints(w, times=(1.0, 1.0)),
        "REFERENCE_REJECTED",
        "do not ascend",
    ),
    "times that go back": (
        "joints",
        lambda w: joints(w, times=(2.0, 1.0)),
        "REFERENCE_REJECTED",
        "do not ascend",
    ),
    "all over": (
        "joints",
        lambda w: joints(w, begin=-5.0, times=(0.0, 1.0)),
        "REFERENCE_STALE",
        "ended 4.0",
    ),
    "much too late": ("joints", lambda w: joints(w, begin=1e4), "REFERENCE_STALE", "begins in"),
    "base not a number": (
        "base",
        lambda w: base(w, row=spoilt(w.rest, np.nan)),
        "REFERENCE_REJECTED",
        "not finite",
    ),
    "base not of unit length": (
        "base",
        lambda w: base(w, row=[*w.rest[:6], 0.5, *w.rest[7:]]),
        "REFERENCE_REJECTED",
        "unit length",
    ),
    "base turned by nothing": (
        "base",
        lambda w: base(w, row=np.zeros(13)),
        "REFERENCE_REJECTED",
        "unit length",
    ),
    "old base": (
        "base",
        lambda w: base(w, begin=-5.0, times=(0.0, 1.0)),
        "REFERENCE_STALE",
        "ended",
    ),
}


@pytest.mark.parametrize("fault", REFERENCES)
def test_bad_piece(motion, fault):
    """It is left out and told; what came before is followed on, and the trouble is soon over."""
    topic, message, status, reason = REFERENCES[fault]
    sent = follow(motion)
    assert not take(motion, topic, message(motion))
    shown(motion, status, reason)
    motion.clock.run(40)
    motion.expect("FOLLOWING")
    assert motion.node._sent >= sent + 40
    assert safe(motion)


JUMPS = {
    "teleport": (lambda w: moved(w, [5.0, -2.0, 0.0]), "LIMITED"),
    "about face": (lambda w: turned(w, [0.0, 0.0, 1.0], np.pi), "LIMITED"),
    "into the ground": (lambda w: moved(w, [0.0, 0.0, -0.5]), "LIMITED"),
    "upside down": (lambda w: turned(w, [0.0, 1.0, 0.0], np.pi), "REFERENCE_REJECTED"),
    "on its back": (lambda w: turned(w, [0.0, 1.0, 0.0], -1.55), "REFERENCE_REJECTED"),
}


@pytest.mark.parametrize("fault", JUMPS)
def test_a_base_that_jumps(motion, fault):
    """The filter says so and stands; no frame that it sends moves faster than it may."""
    row, status = JUMPS[fault]
    follow(motion)
    before = np.array(motion.heard["filtered/base"].points[0].transforms[0].translation.z)
    assert take(motion, "base", base(motion, begin=0.01, row=row(motion)))
    motion.clock.run(2)
    assert motion.node._motion.status in {status, "FOLLOWING"}
    motion.clock.run(2)  # samples of a reference are 20 ms apart
    assert motion.node.status == status, motion.node.reason
    motion.clock.run(150)
    assert safe(motion)
    assert abs(motion.heard["filtered/base"].points[0].transforms[0].translation.z - before) < 0.4


def safe(wires):
    """Return whether the last frame is finite and its certificate says that its forces are possible."""
    wires.wait(lambda: wires.counts["filtered/certificate"], "a certificate comes")
    residual, cop, friction, pull, *_ = wires.heard["filtered/certificate"].data
    point = wires.heard[OUT].points[0]
    finite = all(
        np.isfinite(values).all()
        for values in (point.positions, point.velocities, wires.heard["filtered/torques"].effort)
    )
    return finite and residual < 1e-8 and cop > -1e-6 and friction <= 1.0 + 1e-6 and pull < 1e-6


def test_a_reference_that_stops_is_held_and_taken_up_again(motion):
    restart(motion)
    take(motion, "joints", joints(motion, times=(0.0, 0.5)))
    take(motion, "base", base(motion, times=(0.0, 0.5)))
    motion.clock.run(50)
    assert motion.node.status == "FOLLOWING"
    motion.clock.run(200)
    motion.expect("REFERENCE_ENDED")
    sent = motion.node._sent
    motion.clock.run(50)
    assert motion.node._sent == sent + 50
    take(motion, "joints", joints(motion))
    take(motion, "base", base(motion))
    shown(motion, "FOLLOWING")


def test_time_that_goes_back_begins_anew(motion):
    follow(motion)
    motion.clock.t -= 5.0
    shown(motion, "TIME_BACK")
    motion.clock.run(30)
    motion.expect("WAITING")
    follow(motion)


def test_a_clock_that_stands_sends_nothing(motion):
    sent = follow(motion)
    for _ in range(20):
        motion.node.tick()
    assert motion.node._sent == sent


def test_hold_and_engage(motion):
    follow(motion)
    assert motion.call("hold").success
    shown(motion, "HOLDING")
    take(motion, "joints", joints(motion, positions=both(motion, 0.15)))
    motion.clock.run(150)
    assert np.abs(np.array(motion.heard[OUT].points[0].positions) - motion.posture).max() < 0.05
    assert motion.call("engage").success
    motion.clock.run(80)
    motion.expect("FOLLOWING")


def test_what_it_sends_belongs_together(motion):
    """Stamps are later by the delay, contacts are told once, and the ground bears the weight."""
    follow(motion)
    motion.wait(
        lambda: "filtered/contacts" in motion.heard and "filtered/torques" in motion.heard,
        "all is heard",
    )
    motion.clock.run(1)
    stamp = motion.clock.t + 0.05
    motion.wait(
        lambda: abs(seconds(motion.heard[OUT].header.stamp) - stamp) < 1.5 * PERIOD,
        f"a frame for {stamp} is heard",
    )
    assert motion.heard["filtered/contacts"].joint_names == ["left_foot", "right_foot"]
    np.testing.assert_array_equal(motion.heard["filtered/contacts"].points[0].positions, 1.0)
    assert motion.heard["filtered/torques"].name == motion.names
    assert safe(motion)


# A measured state.


@pytest.fixture(scope="module")
def measured(ros):
    wires = make(state="measured")
    yield wires
    wires.end()


def state(wires, *, shift=0.0, positions=None, pose=None, names=None):
    stamp, names = wires.clock.stamp(shift), wires.names if names is None else names
    positions = wires.posture if positions is None else positions
    message = JointState(
        name=names, position=[float(x) for x in positions], velocity=[0.0] * len(positions)
    )
    message.header.stamp = stamp
    live, heard = wires.node.live.state, []
    put = live.observe_joints
    live.observe_joints = lambda *arguments: heard.append(put(*arguments))
    wires.out["odom"].publish(
        write_odometry(
            wires.rest[:7] if pose is None else pose, np.zeros(6), stamp, ("odom", "pelvis")
        )
    )
    wires.out["joint_states"].publish(message)
    wires.wait(lambda: heard, "the state is heard")
    live.observe_joints = put


def follow_measured(wires):
    restart(wires)
    take(wires, "joints", joints(wires))
    take(wires, "base", base(wires))
    for _ in range(14):
        state(wires)
        wires.clock.run(10)
    wires.wait(
        lambda: state(wires) or wires.clock.run(1) or wires.node.status == "FOLLOWING", "it follows"
    )


STATES = {
    "position not a number": (
        {"positions": spoilt(np.zeros(28), np.nan)},
        "STATE_REFUSED",
        "not finite",
    ),
    "unknown joints": ({"names": [f"x{k}" for k in range(28)]}, "STATE_REFUSED", "no joint"),
    "old": ({"shift": -1.0}, "STATE_REFUSED", "-1.00 s"),
    "of the future": ({"shift": 1.0}, "STATE_REFUSED", "+1.00 s"),
}


@pytest.mark.parametrize("fault", STATES)
def test_bad_state(measured, fault):
    changes, status, reason = STATES[fault]
    follow_measured(measured)
    state(measured, **changes)
    shown(measured, status, reason)
    for _ in range(4):
        state(measured)
        measured.clock.run(10)
    measured.expect("FOLLOWING")


def test_states_that_stop(measured):
    """Nothing is sent that belongs to a state nobody knows."""
    follow_measured(measured)
    measured.clock.run(27)
    sent = measured.node._sent
    shown(measured, "STATE_STALE", "no state for")
    assert measured.node._sent == sent
    follow_measured(measured)


# Poses.


@pytest.fixture(scope="module")
def poses(ros):
    wires = make(follow="poses")
    wires.homes = {
        name: np.array(pin.SE3ToXYZQUAT(wires.node._poses.teleoperation.pose(name)))
        for name in wires.node.names("frame")
    }
    yield wires
    wires.end()


def send(wires, name, pose, *, shift=0.0, axes="odom"):
    message = PoseStamped()
    message.header.stamp, message.header.frame_id = wires.clock.stamp(shift), axes
    write_pose(message.pose, np.array(pose, dtype=float))
    live, heard = wires.node._poses, []
    kept = live.observe_pose, live.refuse_pose
    live.observe_pose = lambda *arguments: heard.append(kept[0](*arguments))
    live.refuse_pose = lambda *arguments: heard.append(kept[1](*arguments))
    wires.out[f"teleop/{name}/pose"].publish(message)
    wires.wait(lambda: heard, "the pose is heard")
    live.observe_pose, live.refuse_pose = kept


def lead(wires, times=1):
    """Send good poses that tremble as those of a hand do."""
    for _ in range(times):
        for name, home in wires.homes.items():
            wires.k = getattr(wires, "k", 0) + 1
            send(wires, name, home + np.array([1e-4 * np.sin(wires.k), *np.zeros(6)]))
        wires.clock.run(2)


def engaged(wires):
    restart(wires)
    lead(wires, 30)
    wires.expect("FOLLOWING")


def shifted(wires, way, name="left_hand"):
    return wires.homes[name] + np.concatenate((way, np.zeros(4)))


def flipped(wires):
    home = wires.homes["left_hand"]
    turn = pin.exp3(np.array([0.0, 0.0, np.pi])) @ pin.Quaternion(home[3:]).matrix()
    return np.concatenate((home[:3], pin.Quaternion(turn).coeffs()))


POSES = {
    "teleport": (lambda w: send(w, "left_hand", shifted(w, [0.5, 0.0, 0.6])), "POSE_JUMP"),
    "far away": (lambda w: send(w, "left_hand", shifted(w, [1e6, 0.0, 0.0])), "POSE_JUMP"),
    "flip": (lambda w: send(w, "left_hand", flipped(w)), "POSE_JUMP"),
    "swapped hands": (
        lambda w: [
            send(w, "left_hand", w.homes["right_hand"]),
            send(w, "right_hand", w.homes["left_hand"]),
        ],
        "POSE_SWAPPED",
    ),
    "time backwards": (
        lambda w: send(w, "left_hand", w.homes["left_hand"], shift=-3.0),
        "TIME_BACK",
    ),
    "not a number": (
        lambda w: send(w, "left_hand", spoilt(w.homes["left_hand"], np.nan)),
        "POSE_REFUSED",
    ),
    "infinite": (
        lambda w: send(w, "left_hand", spoilt(w.homes["left_hand"], np.inf)),
        "POSE_REFUSED",
    ),
    "unnormalised": (
        lambda w: send(w, "left_hand", w.homes["left_hand"] * [1, 1, 1, 2, 2, 2, 2]),
        "POSE_REFUSED",
    ),
    "quaternion of zero": (
        lambda w: send(w, "left_hand", w.homes["left_hand"] * [1, 1, 1, 0, 0, 0, 0]),
        "POSE_REFUSED",
    ),
    "other axes": (
        lambda w: send(w, "left_hand", w.homes["left_hand"], axes="camera"),
        "POSE_REFUSED",
    ),
}


@pytest.mark.parametrize("fault", POSES)
def test_bad_pose(poses, fault):
    inject, status = POSES[fault]
    engaged(poses)
    sent = poses.node._sent
    inject(poses)
    shown(poses, status, "_hand")
    assert poses.node._sent >= sent + 2
    assert safe(poses)
    lead(poses, 40)
    poses.expect("FOLLOWING")


def test_frozen(poses):
    engaged(poses)
    home = {name: home + np.array([3e-3, *np.zeros(6)]) for name, home in poses.homes.items()}
    for _ in range(30):
        for name in home:
            send(poses, name, home[name])
        poses.clock.run(2)
    poses.expect("POSE_FROZEN")
    lead(poses, 20)
    poses.expect("FOLLOWING")


def test_one_hand_that_is_lost(poses):
    engaged(poses)
    for k in range(20):
        send(poses, "right_hand", shifted(poses, [1e-4 * k, 0.0, 0.0], "right_hand"))
        poses.clock.run(2)
    poses.expect("POSE_LOST")
    assert "left_hand" in poses.node.reason
    lead(poses, 40)
    poses.expect("FOLLOWING")


def test_out_of_reach(poses):
    engaged(poses)
    for k in range(60):
        send(poses, "left_hand", shifted(poses, [min(0.02 * k, 1.0), 0.0, 0.0]))
        send(poses, "right_hand", shifted(poses, [1e-4 * np.sin(k), 0.0, 0.0], "right_hand"))
        poses.clock.run(2)
    poses.expect("OUT_OF_REACH")
    assert safe(poses)


def test_clutch(poses):
    engaged(poses)
    assert poses.call("hold").success
    lead(poses, 2)
    shown(poses, "HOLDING")
    assert poses.call("engage").success
    lead(poses, 5)
    poses.expect("FOLLOWING")


# Ground that is not level.


def test_frames_stand_on_the_slope_that_was_told(ros):
    wires = make(slope=0.1, uphill=np.pi / 2)
    node = wires.node
    slope = node._motion._slope
    np.testing.assert_allclose(slope.normal, (0.0, -np.sin(0.1), np.cos(0.1)), atol=1e-12)
    row = np.concatenate((slope.to_world(node.robot.posture)[:7], np.zeros(6)))
    sent = []
    node._send = lambda robot, command: sent.append(command.frame)
    take(wires, "joints", joints(wires))
    take(wires, "base", base(wires, row=row))
    wires.clock.run(160)
    assert node.status == "FOLLOWING", node.reason
    np.testing.assert_allclose(sent[-1].q[:7], row[:7], atol=1e-6)
    wires.end()


def test_slope_is_refused_where_poses_lead(ros):
    wires = Wires(
        DynamicsFilterNode,
        robot="human28",
        rate=100.0,
        publish_lead_time=0.05,
        follow="poses",
        slope=0.1,
    )
    wires.node.trigger_configure()
    assert "slope: received 0.1 rad, expected 0 rad where follow is 'poses'" in wires.node.reason
    wires.node.destroy_node()
    wires.probe.destroy_node()
