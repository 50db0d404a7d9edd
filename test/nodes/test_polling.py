# SPDX-License-Identifier: Apache-2.0
"""Callbacks of a node that waits awake: in the order in which messages were sent, and all that is no message as well."""

from time import monotonic

import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from rclpy.node import Node  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from std_msgs.msg import Int32, String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from humanoid_dynamics.nodes.polling import Poller  # noqa: E402

pytestmark = pytest.mark.usefixtures("ros")
PATIENCE = 60.0  # s
ROUNDS = 200


@pytest.fixture
def pair():
    """A node that polls, one that talks to it, and the poller."""
    node, other = Node("polled"), Node("other")
    poller = Poller(node)
    yield node, other, poller
    poller.close()
    for each in (node, other):
        each.destroy_node()


def until(poller, condition):
    end = monotonic() + PATIENCE
    while not condition() and monotonic() < end:
        assert not poller.wait(monotonic() + 0.001)
    assert condition()


def test_what_was_said_first_is_heard_first(pair):
    """The last topic of a state is the first that is looked at, and yet handled last; the clock comes before all."""
    node, other, poller = pair
    heard = []
    node.create_subscription(
        Clock, "clock_of_test", lambda m: heard.append(("clock", m.clock.sec)), 10
    )
    node.create_subscription(Int32, "last", lambda m: heard.append(("last", m.data)), 10)
    node.create_subscription(Int32, "first", lambda m: heard.append(("first", m.data)), 10)
    clock, first, last = (
        other.create_publisher(kind, name, 10)
        for kind, name in ((Clock, "clock_of_test"), (Int32, "first"), (Int32, "last"))
    )
    until(
        poller,
        lambda: (
            clock.get_subscription_count()
            and first.get_subscription_count()
            and last.get_subscription_count()
        ),
    )
    for k in range(ROUNDS):
        message = Clock()
        message.clock.sec = k
        clock.publish(message)
        first.publish(Int32(data=k))
        last.publish(Int32(data=k))
        until(poller, lambda k=k: heard[-1:] == [("last", k)])
    assert heard == [(topic, k) for k in range(ROUNDS) for topic in ("clock", "first", "last")]


def test_services_and_new_subscriptions_work_too(pair):
    node, other, poller = pair
    asked, heard = [], []

    def serve(_request, response):
        asked.append(1)
        node.create_subscription(String, "new", lambda m: heard.append(m.data), 10)
        response.success = True
        return response

    node.create_service(Trigger, "serve", serve)
    client, publisher = (
        other.create_client(Trigger, "serve"),
        other.create_publisher(String, "new", 10),
    )
    until(poller, client.service_is_ready)
    client.call_async(Trigger.Request())
    until(poller, lambda: asked == [1])
    until(poller, lambda: publisher.get_subscription_count() == 1)
    publisher.publish(String(data="here"))
    until(poller, lambda: heard == ["here"])


def test_it_returns_when_it_is_due(pair):
    _, _, poller = pair
    for wait in (0.0, 0.01, 0.05):
        due = monotonic() + wait
        assert poller.wait(due) is False
        assert monotonic() >= due
        assert monotonic() < due + 2.0


def test_a_handler_that_fails_is_heard_of(pair):
    node, other, poller = pair
    node.create_subscription(Int32, "bad", lambda m: 1 // m.data, 10)
    publisher = other.create_publisher(Int32, "bad", 10)
    until(poller, lambda: publisher.get_subscription_count() == 1)
    publisher.publish(Int32(data=0))
    with pytest.raises(ZeroDivisionError):
        until(poller, lambda: False)
