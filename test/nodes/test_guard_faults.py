# SPDX-License-Identifier: Apache-2.0
"""Faults of commands, one by one, over the real middleware: the first thing the guard sends after each is safe."""

import os
import random

import numpy as np
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState  # noqa: E402
from rcl_interfaces.srv import DescribeParameters  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from wires import PATIENCE, Clock, Wires  # noqa: E402

from humanoid_dynamics.nodes.effort_guard import EffortGuardNode  # noqa: E402
from humanoid_dynamics.nodes.messages import seconds  # noqa: E402

NAMES = ["hip", "knee", "ankle"]
LIMITS = [100.0, 50.0, 20.0]
GOOD = [1.0, -2.0, 3.0]
IN, OUT = "unguarded/joint_torque_commands", "joint_torque_commands"


@pytest.fixture(scope="module")
def wires(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("log")))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        patch.setitem(os.environ, "ROS_DOMAIN_ID", str(random.SystemRandom().randint(1, 101)))
        rclpy.init()
        wires = Wires(
            EffortGuardNode,
            joints=NAMES,
            effort_limits=LIMITS,
            timeout=1.0,
            bad_commands=0,
            effort_rate=1e6,
            safe_output="damping",
            damping=0.01,
            rate=100.0,
        )
        wires.clock = Clock(wires.node)
        wires.begin()
        yield wires
        wires.end()
        rclpy.try_shutdown()


def command(wires, effort=GOOD, names=NAMES, shift=0.0):
    wires.clock.t += 0.001
    message = JointState(name=list(names), effort=[float(x) for x in effort])
    message.header.stamp = wires.now(shift)
    return message


def send(wires, message):
    """Publish a command, and return what the guard sends from then on."""
    now = wires.clock.t
    wires.out[IN].publish(message)
    wires.wait(
        lambda: OUT in wires.heard and abs(seconds(wires.heard[OUT].header.stamp) - now) < 1e-6,
        f"what is sent at {now} comes",
    )
    return wires.heard[OUT]


def arm(wires):
    """Bring the guard to where commands go through."""
    assert wires.call("rearm").success
    send(wires, command(wires))
    assert list(send(wires, command(wires)).effort) == GOOD
    wires.expect("PASSING")


def move(wires, velocity):
    """Let the joints move, so that damping can be told from nothing."""
    wires.out["joint_states"].publish(JointState(name=NAMES, position=[0.0] * 3, velocity=velocity))
    wires.wait(lambda: np.allclose(wires.node._safe._v, velocity), "the state is heard")


FAULTS = {
    "not a number": ("NOT_FINITE", {"effort": [1.0, np.nan, 3.0]}),
    "infinity": ("NOT_FINITE", {"effort": [np.inf, 0.0, 3.0]}),
    "minus infinity": ("NOT_FINITE", {"effort": [1.0, 0.0, -np.inf]}),
    "too few": ("WRONG_SIZE", {"effort": GOOD[:2], "names": NAMES[:2]}),
    "too many": ("WRONG_SIZE", {"effort": [*GOOD, 1.0], "names": [*NAMES, "toe"]}),
    "nothing": ("WRONG_SIZE", {"effort": [], "names": []}),
    "efforts without names": ("WRONG_SIZE", {"names": []}),
    "names without efforts": ("WRONG_SIZE", {"effort": []}),
    "one effort short": ("WRONG_SIZE", {"effort": GOOD[:2]}),
    "unknown joint": ("UNKNOWN_NAME", {"names": ["hip", "knee", "elbow"]}),
    "other order": ("REORDERED", {"names": ["knee", "hip", "ankle"]}),
    "a joint twice": ("REORDERED", {"names": ["hip", "hip", "ankle"]}),
    "old stamp": ("STAMP_IN_PAST", {"shift": -1.5}),
    "stamp of the stone age": ("STAMP_IN_PAST", {"shift": -1e9}),
    "stamp of the future": ("STAMP_IN_FUTURE", {"shift": 0.5}),
    "stamp of the far future": ("STAMP_IN_FUTURE", {"shift": 1e8}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_command(wires, fault):
    status, changes = FAULTS[fault]
    arm(wires)
    move(wires, [10.0, -10.0, 5.0])
    sent = send(wires, command(wires, **changes))
    np.testing.assert_allclose(sent.effort, [-10.0, 5.0, -1.0])
    wires.expect(status)
    wires.wait(lambda: wires.reason, "the reason is told")
    wires.wait(lambda: wires.level == DiagnosticStatus.ERROR, "a latched guard is an error")
    sent = send(wires, command(wires))
    np.testing.assert_allclose(sent.effort, [-10.0, 5.0, -1.0])
    arm(wires)


@pytest.mark.parametrize(
    ("effort", "expected"),
    [
        ([1e300, 0.0, 0.0], [100.0, 0.0, 0.0]),
        ([0.0, -50.001, 0.0], [0.0, -50.0, 0.0]),
        ([0.0, 0.0, 21.0], [0.0, 0.0, 20.0]),
    ],
)
def test_too_large_is_cut_and_goes_on(wires, effort, expected):
    arm(wires)
    assert list(send(wires, command(wires, effort)).effort) == expected
    wires.expect("LIMITED")
    assert list(wires.heard["effort_commands"].data) == expected


def test_commands_that_stop(wires):
    arm(wires)
    wires.clock.run(99)
    assert wires.node.status == "HELD"
    wires.clock.run(2)
    wires.expect("STALE")
    wires.wait(
        lambda: seconds(wires.heard[OUT].header.stamp) > wires.clock.t - 1.5 * wires.clock.period,
        "it goes on sending",
    )
    arm(wires)


def test_two_nodes_that_send(wires):
    arm(wires)
    other = wires.probe.create_publisher(JointState, IN, 1)
    wires.wait(
        lambda: (
            send(wires, command(wires))
            and (wires.node.tick() or wires.status == "DUPLICATE_PUBLISHER")
        ),
        "the other one is noticed",
    )
    refused = wires.call("rearm")
    assert not refused.success
    assert "2 nodes" in refused.message
    wires.probe.destroy_publisher(other)
    wires.wait(
        lambda: wires.node.tick() or wires.node._count_senders() == 1, "the other one is gone"
    )
    wires.node.tick()
    arm(wires)


def test_stop_by_service(wires):
    arm(wires)
    assert wires.call("stop").success
    wires.expect("STOPPED")
    arm(wires)


@pytest.mark.parametrize(
    "state",
    [
        {"velocity": [np.nan] * 3},
        {"velocity": [1.0]},
        {"name": ["toe"], "position": [0.0], "velocity": [1.0]},
        {"name": []},
    ],
)
def test_bad_states_change_nothing_of_the_safe_output(wires, state):
    arm(wires)
    move(wires, [1.0, 1.0, 1.0])
    wires.call("stop")
    fields = {"name": NAMES, "position": [0.0] * 3, "velocity": [0.0] * 3} | state
    wires.out["joint_states"].publish(JointState(**fields))
    sent = send(wires, command(wires))
    np.testing.assert_allclose(sent.effort, [-1.0, -0.5, -0.2])
    arm(wires)


def test_what_may_not_change_is_refused_with_the_reason(wires):
    from rclpy.parameter import Parameter

    (refused,) = wires.node.set_parameters([Parameter("safe_output", value="zero")])
    assert not refused.successful
    assert "clean up" in refused.reason
    (taken,) = wires.node.set_parameters([Parameter("skew", value=0.02)])
    assert taken.successful
    assert wires.node._guard.settings.skew == 0.02


def test_life_cycle_any_number_of_times(wires):
    node = wires.node
    for _ in range(5):
        with node.lock:
            node.trigger_deactivate()
            node.trigger_cleanup()
            assert node._made == []
            node.trigger_configure()
            node.trigger_activate()
    made = len(node._made)
    assert made == len({id(entry[1]) for entry in node._made})
    wires.wait(
        lambda: all(publisher.get_subscription_count() for publisher in wires.out.values()),
        "every topic is heard again",
    )
    arm(wires)


def test_life_cycle_by_service_and_what_a_parameter_is(wires):
    """As `ros2 lifecycle set` and `ros2 param describe` do it."""
    change = wires.probe.create_client(ChangeState, "/effort_guard/change_state")
    describe = wires.probe.create_client(DescribeParameters, "/effort_guard/describe_parameters")
    assert change.wait_for_service(PATIENCE)
    for transition in (4, 2, 1, 3):  # deactivate, clean up, configure, activate
        future = change.call_async(ChangeState.Request(transition=Transition(id=transition)))
        wires.wait(future.done, "the state has changed")
        assert future.result().success
    future = describe.call_async(DescribeParameters.Request(names=["timeout"]))
    wires.wait(future.done, "it is described")
    (told,) = future.result().descriptors
    assert told.description.startswith(
        "s, 0.001 to 10; Age, by reception and by stamp, from which a command is stale"
    )
    assert told.floating_point_range[0].to_value == 10.0
    wires.wait(
        lambda: all(publisher.get_subscription_count() for publisher in wires.out.values()),
        "every topic is heard again",
    )
    arm(wires)
