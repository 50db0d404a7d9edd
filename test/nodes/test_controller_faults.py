# SPDX-License-Identifier: Apache-2.0
"""Faults of states, references and contacts, one by one, over the real middleware: what the controller says and sends after each."""

import os
import random

import numpy as np
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from geometry_msgs.msg import WrenchStamped  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Empty  # noqa: E402
from wires import Clock, Wires  # noqa: E402

from humanoid_dynamics.contact.planned import loads_of_schedule  # noqa: E402
from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule  # noqa: E402
from humanoid_dynamics.control.balance import LOST_AFTER  # noqa: E402
from humanoid_dynamics.nodes import heartbeat  # noqa: E402
from humanoid_dynamics.nodes.inverse_dynamics import InverseDynamicsNode  # noqa: E402
from humanoid_dynamics.nodes.messages import (  # noqa: E402
    seconds,
    write_base_trajectory,
    write_joint_trajectory,
    write_odometry,
    write_wrench,
)

OUT = "unguarded/joint_torque_commands"
PERIOD = 0.005  # s
WELL = ("STANDING", "FOLLOWING", "REFERENCE_ENDED")


@pytest.fixture(scope="module")
def wires(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("log")))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        patch.setitem(os.environ, "ROS_DOMAIN_ID", str(random.SystemRandom().randint(1, 101)))
        rclpy.init()
        wires = Wires(
            InverseDynamicsNode,
            robot="human28",
            timeout=0.5,
            skew=0.05,
            fade_out_duration=0.2,
            debounce=0.0,
            detail_rate=1.0,
        )
        wires.clock = Clock(wires.node, PERIOD)
        wires.begin()
        robot = wires.node.robot
        wires.names = list(robot.actuated)
        wires.posture = np.array([robot.posture[robot.joint(name).q.start] for name in wires.names])
        wires.limits = robot.limits.effort[robot.actuated_v]
        wires.pose = np.array(robot.posture[:7])
        yield wires
        wires.end()
        rclpy.try_shutdown()


def joints(wires, stamp, position=None, velocity=None, names=None):
    names = wires.names if names is None else names
    position = wires.posture if position is None else position
    velocity = np.zeros(len(position)) if velocity is None else velocity
    message = JointState(
        name=list(names),
        position=[float(x) for x in position],
        velocity=[float(x) for x in velocity],
    )
    message.header.stamp = stamp
    return message


def base(wires, stamp, pose=None, twist=None):
    return write_odometry(
        wires.pose if pose is None else np.array(pose),
        np.zeros(6) if twist is None else twist,
        stamp,
        ("odom", "pelvis"),
    )


def state(wires, stamp=None, **changes):
    """Publish a state, base first, and return the torques that answer it: they are stamped as it is."""
    stamp = stamp or later(wires)
    wires.out["odom"].publish(base(wires, stamp))
    wires.out["joint_states"].publish(joints(wires, stamp, **changes))
    wires.wait(
        lambda: OUT in wires.heard and wires.heard[OUT].header.stamp == stamp,
        f"what answers the state of {seconds(stamp)} comes",
    )
    return wires.heard[OUT]


def later(wires):
    """Return the time a period later."""
    wires.clock.t += PERIOD
    return wires.now()


def load(wires, force=319.0, surfaces=("left_foot", "right_foot")):
    for surface in surfaces:
        wires.out[f"contact_wrenches/{surface}"].publish(
            write_wrench(np.array([0.0, 0.0, force]), np.zeros(3), wires.now(), surface)
        )
        wires.wait(lambda s=surface: felt(wires, s, force), "the force is felt")


def felt(wires, surface, force):
    return wires.node._controller._contacts[surface].closed == (force > 10.0)


def restart(wires):
    """Bring the controller to where it stands and holds."""
    with wires.node.lock:
        wires.node.trigger_deactivate()
        wires.node.trigger_activate()
    wires.wait(lambda: show(wires) or wires.status == "STANDING", "it stands")
    return np.array(state(wires).effort)


def show(wires):
    stamp = later(wires)
    wires.out["odom"].publish(base(wires, stamp))
    wires.out["joint_states"].publish(joints(wires, stamp))


def safe(wires, message):
    effort = np.array(message.effort)
    return np.isfinite(effort).all() and np.all(np.abs(effort) <= wires.limits)


def bad_joints(wires, stamp, **changes):
    wires.out["joint_states"].publish(joints(wires, stamp, **changes))


def cut(wires, name, message):
    wires.out[name].publish(serialize_message(message)[:-9])


def with_entry(values, entry):
    values = np.array(values, dtype=float)
    values[3] = entry
    return values


STATES = {
    "position not a number": (
        "STATE_REFUSED",
        lambda w: bad_joints(w, w.now(), position=with_entry(w.posture, np.nan)),
    ),
    "position infinite": (
        "STATE_REFUSED",
        lambda w: bad_joints(w, w.now(), position=with_entry(w.posture, np.inf)),
    ),
    "position absurd": (
        "STATE_REFUSED",
        lambda w: bad_joints(w, w.now(), position=with_entry(w.posture, 1e6)),
    ),
    "velocity not a number": (
        "STATE_REFUSED",
        lambda w: bad_joints(w, w.now(), velocity=with_entry(w.posture, np.nan)),
    ),
    "velocity absurd": (
        "STATE_REFUSED",
        lambda w: bad_joints(w, w.now(), velocity=with_entry(w.posture, -1e5)),
    ),
    "a position short": (
        "STATE_REFUSED",
        lambda w: bad_joints(w, w.now(), position=w.posture[:-1]),
    ),
    "a velocity short": ("STATE_REFUSED", lambda w: bad_joints(w, w.now(), velocity=np.zeros(3))),
    "unknown joints": (
        "STATE_REFUSED",
        lambda w: bad_joints(w, w.now(), names=[f"x{k}" for k in range(28)]),
    ),
    "a joint twice": (
        "STATE_REFUSED",
        lambda w: bad_joints(w, w.now(), names=[w.names[0], *w.names[:-1]]),
    ),
    "nothing": ("STATE_REFUSED", lambda w: bad_joints(w, w.now(), position=[], names=[])),
    "joints cut short": ("STATE_REFUSED", lambda w: cut(w, "joint_states", joints(w, w.now()))),
    "base cut short": ("STATE_REFUSED", lambda w: cut(w, "odom", base(w, w.now()))),
    "old joints": ("STATE_SKEWED", lambda w: bad_joints(w, w.now(-1.0))),
    "joints of the future": ("STATE_SKEWED", lambda w: bad_joints(w, w.now(1.0))),
    "base not a number": (
        "STATE_REFUSED",
        lambda w: w.out["odom"].publish(base(w, w.now(), pose=with_entry(w.pose, np.nan))),
    ),
    "base far away": (
        "STATE_REFUSED",
        lambda w: w.out["odom"].publish(base(w, w.now(), pose=[1e9, *w.pose[1:]])),
    ),
    "quaternion of zero": (
        "STATE_REFUSED",
        lambda w: w.out["odom"].publish(base(w, w.now(), pose=[*w.pose[:3], 0.0, 0.0, 0.0, 0.0])),
    ),
    "twist not a number": (
        "STATE_REFUSED",
        lambda w: w.out["odom"].publish(base(w, w.now(), twist=np.full(6, np.nan))),
    ),
    "twist absurd": (
        "STATE_REFUSED",
        lambda w: w.out["odom"].publish(base(w, w.now(), twist=np.full(6, 1e5))),
    ),
    "old base": ("STATE_SKEWED", lambda w: w.out["odom"].publish(base(w, w.now(-1.0)))),
    "base of the future": ("STATE_SKEWED", lambda w: w.out["odom"].publish(base(w, w.now(1.0)))),
}


@pytest.mark.parametrize("fault", STATES)
def test_bad_state(wires, fault):
    """The next thing it sends is the answer to the last good state; a good one ends it."""
    status, inject = STATES[fault]
    good = restart(wires)
    before = wires.counts[OUT]
    inject(wires)
    wires.wait(lambda: wires.counts[OUT] > before, "something is sent")
    np.testing.assert_allclose(wires.heard[OUT].effort, good, atol=1.0)
    wires.expect(status)
    wires.wait(lambda: wires.reason, "the reason is told")
    state(wires)
    wires.expect("STANDING")


def test_states_that_stop_let_the_torques_fade(wires):
    good = restart(wires)
    wires.clock.run(102)
    wires.expect("STATE_STALE")
    largest = np.abs(good).max()
    wires.wait(
        lambda: wires.clock.run() or np.abs(wires.heard[OUT].effort).max() < 0.5 * largest,
        "torques fade",
    )
    wires.wait(lambda: wires.clock.run() or not np.any(wires.heard[OUT].effort), "nothing is left")
    state(wires)
    wires.expect("STANDING")


def test_stamps_that_go_back_begin_anew(wires):
    restart(wires)
    assert safe(wires, state(wires, stamp=wires.now(-0.2)))
    wires.expect("TIME_BACK")
    state(wires)
    wires.expect("STANDING")


def test_half_of_the_joints_at_a_time(wires):
    restart(wires)
    stamp = later(wires)
    wires.out["odom"].publish(base(wires, stamp))
    message = joints(wires, stamp, position=wires.posture[:14], names=wires.names[:14])
    assert safe(wires, wires.exchange("joint_states", message, OUT))
    wires.expect("STANDING")


@pytest.mark.parametrize("turn", [np.pi, 1.5])
def test_a_fall_is_damped_until_it_is_over(wires, turn):
    """Also what tracking makes of a flip by 180 degrees."""
    restart(wires)
    flipped = [*wires.pose[:3], 0.0, np.sin(turn / 2), 0.0, np.cos(turn / 2)]
    stamp = later(wires)
    wires.out["odom"].publish(base(wires, stamp, pose=flipped))
    sent = wires.exchange("joint_states", joints(wires, stamp), OUT)
    np.testing.assert_allclose(sent.effort, 0.0, atol=1e-9)
    wires.expect("FALLEN")
    state(wires)
    wires.expect("STANDING")


def test_a_base_that_jumps_moves_nothing_but_the_reference(wires):
    """Teleported by five metres it holds its posture there."""
    good = restart(wires)
    stamp = later(wires)
    wires.out["odom"].publish(
        base(wires, stamp, pose=[wires.pose[0] + 5.0, wires.pose[1] - 2.0, *wires.pose[2:]])
    )
    sent = wires.exchange("joint_states", joints(wires, stamp), OUT)
    assert np.abs(np.array(sent.effort) - good).max() < 60.0


def reference(wires, shift=0.2, **changes):
    positions = np.array([wires.posture, wires.posture])
    fields = {
        "names": wires.names,
        "times": np.array([0.0, 0.3]),
        "positions": positions,
        "velocities": np.zeros_like(positions),
    } | changes
    tables = {name: fields[name] for name in ("positions", "velocities")}
    return write_joint_trajectory(
        fields["names"], seconds(wires.now(shift)), fields["times"], tables
    )


def many(points):
    return {
        "times": 1e-3 * np.arange(points),
        "positions": np.zeros((points, 28)),
        "velocities": np.zeros((points, 28)),
    }


def base_reference(wires, row):
    return write_base_trajectory(
        "pelvis", seconds(wires.now(0.2)), np.array([0.0, 0.3]), np.array([row, row], dtype=float)
    )


def rest(wires):
    return [*wires.pose, *np.zeros(6)]


REFERENCES = {
    "not a number": lambda w: ("joints", reference(w, positions=np.full((2, 28), np.nan))),
    "velocity infinite": lambda w: ("joints", reference(w, velocities=np.full((2, 28), np.inf))),
    "beyond the limits of joints": lambda w: (
        "joints",
        reference(w, positions=np.full((2, 28), 1e9)),
    ),
    "faster than joints": lambda w: ("joints", reference(w, velocities=np.full((2, 28), 1e3))),
    "more points than are taken": lambda w: ("joints", reference(w, **many(10_000))),
    "base at the moon": lambda w: (
        "base",
        base_reference(w, with_entry(rest(w), 1.0) + 1e8 * (np.arange(13) == 2)),
    ),
    "unknown joint": lambda w: ("joints", reference(w, names=["wing", *w.names[1:]])),
    "a joint twice": lambda w: ("joints", reference(w, names=[w.names[1], *w.names[1:]])),
    "too few positions": lambda w: (
        "joints",
        reference(w, positions=np.zeros((2, 5)), velocities=np.zeros((2, 5))),
    ),
    "times that stand still": lambda w: ("joints", reference(w, times=np.array([0.1, 0.1]))),
    "no points": lambda w: (
        "joints",
        write_joint_trajectory(w.names, seconds(w.now()), np.zeros(0), {}),
    ),
    "base not a number": lambda w: ("base", base_reference(w, with_entry(rest(w), np.nan))),
    "base turned by nothing": lambda w: ("base", base_reference(w, np.zeros(13))),
    "contact nobody has": lambda w: (
        "contacts",
        write_joint_trajectory(
            ["tail"], seconds(w.now()), np.array([0.0]), {"positions": np.ones((1, 1))}
        ),
    ),
    "load not a number": lambda w: (
        "contacts",
        write_joint_trajectory(
            ["left_foot"], seconds(w.now()), np.array([0.0]), {"positions": np.full((1, 1), np.nan)}
        ),
    ),
    "load below zero": lambda w: (
        "contacts",
        write_joint_trajectory(
            ["left_foot"], seconds(w.now()), np.array([0.0]), {"positions": np.full((1, 1), -1.0)}
        ),
    ),
    "contacts without points": lambda w: (
        "contacts",
        write_joint_trajectory(["left_foot"], seconds(w.now()), np.zeros(0), {}),
    ),
}


@pytest.mark.parametrize("fault", REFERENCES)
def test_bad_reference(wires, fault):
    """It is refused, and what was held before is held on."""
    good = restart(wires)
    topic, message = REFERENCES[fault](wires)
    wires.out[f"reference/{topic}"].publish(message)
    wires.wait(lambda: wires.node._controller.reference.fault, "the reference is refused")
    np.testing.assert_allclose(state(wires).effort, good, atol=1.0)
    wires.expect("REFERENCE_REJECTED")
    wires.wait(lambda: wires.reason, "the reason is told")
    wires.out["reference/joints"].publish(reference(wires, shift=0.5))
    wires.wait(lambda: wires.node._controller.reference.begun, "the reference is taken")
    state(wires)
    wires.expect("FOLLOWING")


def test_a_reference_that_jumps_is_blended(wires):
    good = restart(wires)
    limits = wires.node.robot.limits
    places = [wires.node.robot.joint(name).q.start for name in wires.names]
    far = np.clip(
        np.array([wires.posture, wires.posture]) + 0.8, limits.lower[places], limits.upper[places]
    )
    wires.out["reference/joints"].publish(reference(wires, shift=0.01, positions=far))
    wires.wait(lambda: wires.node._controller.reference.begun, "the reference is taken")
    np.testing.assert_allclose(state(wires).effort, good, atol=5.0)


def test_a_reference_that_stops_is_held(wires):
    restart(wires)
    wires.out["reference/joints"].publish(reference(wires, shift=-0.5))
    wires.wait(lambda: wires.node._controller.reference.begun, "the reference is taken")
    state(wires)
    wires.expect("REFERENCE_ENDED")


def test_a_sender_that_dies_is_told_although_it_has_sent_ahead(wires, monkeypatch):
    monkeypatch.setattr(heartbeat, "SILENT", 0.2)
    restart(wires)
    message = write_joint_trajectory(
        wires.names,
        seconds(wires.now()),
        np.array([0.0, 60.0]),
        {"positions": np.array([wires.posture] * 2)},
    )
    wires.out["reference/joints"].publish(message)
    wires.wait(lambda: wires.node._controller.reference.begun, "the reference is taken")
    wires.wait(
        lambda: state(wires) and wires.status == "FOLLOWING",
        "a sender that never beats is not missed",
    )
    wires.out["reference/heartbeat"].publish(Empty())
    wires.wait(
        lambda: safe(wires, state(wires)) and wires.status == "HEARTBEAT_LOST", "it is missed"
    )
    wires.wait(lambda: "no heartbeat from the publisher" in wires.reason, "the reason is told")
    wires.wait(
        lambda: (
            wires.out["reference/heartbeat"].publish(Empty())
            or (state(wires) and wires.status == "FOLLOWING")
        ),
        "it is back",
    )


def test_a_contact_that_is_lost(wires):
    restart(wires)
    load(wires)
    state(wires)
    load(wires, force=0.0, surfaces=("right_foot",))
    state(wires)
    wires.expect("STANDING")  # a flicker is not a loss
    opened = wires.clock.t
    while wires.clock.t <= opened + LOST_AFTER:
        assert safe(wires, state(wires))
    wires.expect("CONTACT_LOST")
    load(wires)
    state(wires)
    wires.expect("STANDING")


def test_a_contact_that_never_comes(wires):
    restart(wires)
    load(wires)
    load(wires, force=0.0, surfaces=("right_foot",))
    t = seconds(wires.now())
    schedule = ContactSchedule.of(
        (
            ContactInterval("left_foot", -np.inf, np.inf, 0.0, 0.0),
            ContactInterval("right_foot", -np.inf, t - 0.2, 0.0, 0.1),
            ContactInterval("right_foot", t + 0.2, np.inf, 0.1, 0.0),
        )
    )
    times, loads = loads_of_schedule(schedule, t - 1.0, t + 2.0)
    message = write_joint_trajectory(
        schedule.surfaces, t - 1.0, times - times[0], {"positions": loads}
    )
    wires.out["reference/contacts"].publish(message)
    wires.wait(
        lambda: len(wires.node._controller._phases.schedule.intervals) == 3, "the schedule is taken"
    )
    wires.wait(
        lambda: safe(wires, state(wires)) and wires.status == "CONTACT_WAITING",
        "the contact is waited for",
    )
    load(wires, surfaces=("right_foot",))
    wires.wait(lambda: safe(wires, state(wires)) and wires.status in WELL, "the contact is there")


@pytest.mark.parametrize("force", [np.nan, np.inf, -1e9])
def test_forces_that_are_none(wires, force):
    restart(wires)
    wires.out["contact_wrenches/left_foot"].publish(
        write_wrench(np.array([0.0, 0.0, force]), np.zeros(3), wires.now(), "left_foot")
    )
    assert safe(wires, state(wires))
    load(wires)
    state(wires)
    wires.expect("STANDING")


def test_a_rule_that_does_not_exist_is_refused_and_others_take_over_gradually(wires):
    from rclpy.parameter import Parameter

    good = restart(wires)
    (refused,) = wires.node.set_parameters([Parameter("rule", value="hope")])
    assert not refused.successful
    assert "minimum_torque" in refused.reason
    (taken,) = wires.node.set_parameters([Parameter("rule", value="minimum_torque_limited")])
    assert taken.successful
    other = np.array(state(wires).effort)
    assert np.abs(other - good).max() < 30.0
    wires.node.set_parameters([Parameter("rule", value="transition_limited")])


def test_a_wrench_for_no_reason_is_no_harm(wires):
    restart(wires)
    wires.out["contact_wrenches/left_foot"].publish(WrenchStamped())
    assert safe(wires, state(wires))
    load(wires)


def test_activated_anew_it_sends_nothing_before_a_state(wires):
    """A command of zero torques would let the robot fall."""
    restart(wires)
    before = wires.counts[OUT]
    with wires.node.lock:
        wires.node.trigger_deactivate()
        wires.node.trigger_activate()
    wires.clock.run(200)
    assert wires.node.status == "WAITING"
    assert np.abs(state(wires).effort).max() > 1.0
    assert wires.counts[OUT] == before + 1


def test_odometry_may_follow_the_joint_states_it_belongs_to(wires):
    """A state estimator answers joint states: from its first answer on, a state waits for its odometry."""
    state(wires)
    node, answered = wires.node, []
    with node.lock:
        node._paired = False
        for _ in range(2):
            stamp = later(wires)
            for hear, message in (
                (node._on_joints, joints(wires, stamp)),
                (node._on_base, base(wires, stamp)),
            ):
                before = node._answered
                hear(serialize_message(message))
                answered.append(node._answered - before)
    assert answered == [1, 0, 0, 1]
