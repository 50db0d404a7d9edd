# SPDX-License-Identifier: Apache-2.0
"""The page on topics: what comes is drawn, what is wished goes out, and what makes no sense changes nothing."""

import random
from time import monotonic

import numpy as np
import pinocchio as pin
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)
page = pytest.importorskip(
    "humanoid_dynamics.viewer.page", reason="the page's extra is not installed"
)

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue  # noqa: E402
from rcl_interfaces.msg import SetParametersResult  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from wires import Wires  # noqa: E402

from humanoid_dynamics.nodes.messages import read_pose, read_wrench, write_odometry, write_wrench  # noqa: E402
from humanoid_dynamics.nodes.viewer import ViewerNode  # noqa: E402


@pytest.fixture(scope="module")
def wires(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("log")))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        patch.setenv("ROS_DOMAIN_ID", str(random.SystemRandom().randint(1, 101)))
        patch.setattr(page.Page, "watched", True)
        rclpy.init()
        asked = []
        wires = Wires(
            ViewerNode,
            robot="human28",
            port=17401,
            simple=True,
            leads=True,
            rule="transition_limited",
            connections=["grip"],
        )
        wires.asked = asked
        for name, kind in {
            "pause": SetBool,
            "step": Trigger,
            "reset": Trigger,
            "connect/grip": Trigger,
            "cut/grip": Trigger,
        }.items():
            wires.probe.create_service(
                kind, f"simulator/{name}", lambda q, a, n=name: answer(asked, n, q, a)
            )
        wires.probe.create_service(
            SetParameters, "inverse_dynamics/set_parameters", lambda q, a: choose(asked, q, a)
        )
        wires.begin()
        wires.posture = wires.node.robot.posture
        wires.names = list(wires.node.robot.actuated)
        yield wires
        wires.end()
        rclpy.try_shutdown()


def answer(asked, name, request, response):
    asked.append((name, getattr(request, "data", None)))
    response.success = True
    return response


def choose(asked, request, response):
    asked.append(("rule", request.parameters[0].value.string_value))
    response.results = [SetParametersResult(successful=True)]
    return response


def show(wires, height=0.0, shift=0.0):
    robot, stamp = wires.node.robot, wires.now(shift)
    pose = np.array(robot.posture[:7])
    pose[2] += height
    wires.out["odom"].publish(write_odometry(pose, np.zeros(6), stamp, ("odom", "pelvis")))
    message = JointState(
        name=wires.names,
        position=[float(robot.posture[robot.joint(name).q.start]) for name in wires.names],
    )
    message.header.stamp = stamp
    t = wires.node.session.t
    wires.out["joint_states"].publish(message)
    wires.wait(lambda: wires.node.session.t != t, "the state is heard")
    wires.wait(lambda: abs(wires.node.session.measured.q[2] - pose[2]) < 1e-9, "the base is heard")
    wires.node.tick()


def wish(wires, what):
    assert wires.node.page.wish(None, what)
    wires.node.tick()


def test_a_state_and_forces_are_drawn(wires):
    show(wires, 0.1)
    wires.expect("SHOWING")
    for foot in ("left_foot", "right_foot"):
        wires.out[f"contact_wrenches/{foot}"].publish(
            write_wrench(np.array([0.0, 0.0, 300.0]), np.array([6.0, 0.0, 0.0]), wires.now(), foot)
        )
    wires.wait(lambda: len(wires.node.session.wrenches) == 2, "forces are heard")
    picture = wires.node.session.picture()
    com = np.array(pin.centerOfMass(wires.node.robot.model, wires.node.robot.data(), wires.posture))
    np.testing.assert_allclose(picture.com, com + np.array([0.0, 0.0, 0.1]), atol=1e-9)
    assert picture.forces.shape == (2, 2, 3)
    np.testing.assert_allclose(
        picture.forces[:, 1] - picture.forces[:, 0], [[0.0, 0.0, 0.3]] * 2, atol=1e-9
    )
    soles = [
        wires.node.session._data.oMf[wires.node.robot.surfaces[foot].frame]
        for foot in ("left_foot", "right_foot")
    ]
    np.testing.assert_allclose(
        picture.forces[:, 1], [sole.act(np.array([0.0, 0.02, 0.0])) for sole in soles], atol=1e-9
    )
    assert picture.numbers["normal force, left_foot [N]"] == 300.0


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_forces_that_are_none_are_not_drawn(wires, number):
    wires.out["contact_wrenches/left_foot"].publish(
        write_wrench(np.full(3, number), np.zeros(3), wires.now(), "left_foot")
    )
    wires.wait(
        lambda: not np.isfinite(wires.node.session.wrenches["left_foot"]).all(), "it is heard"
    )
    assert np.isfinite(wires.node.session.picture().forces).all()


def test_a_drag_is_a_push_again_and_again_until_it_is_let_go(wires):
    show(wires)
    body, force, point = "pelvis", np.array([30.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.2])
    before = wires.counts["push"]
    wish(
        wires, lambda session: session.pull(body, point, 1e-5 * force)
    )  # where a drag begins, it has no length yet
    show(wires, shift=0.1)
    wish(wires, lambda session: session.pull(body, point, force))
    wires.wait(lambda: wires.counts["push"] == before + 1, "a push goes out")
    sent = wires.heard["push"]
    assert sent.header.frame_id == body
    f, m = read_wrench(sent)
    np.testing.assert_allclose(f, force)
    np.testing.assert_allclose(m, np.cross(point, force), atol=1e-9)
    show(wires, shift=0.2)
    wires.wait(lambda: wires.counts["push"] == before + 2, "another one, since the first is over")
    wish(wires, lambda session: session.pull(body, point, np.zeros(3)))
    show(wires, shift=0.4)
    assert wires.counts["push"] == before + 2


def test_a_gizmo_is_a_pose(wires):
    heard = []
    from geometry_msgs.msg import PoseStamped

    subscription = wires.probe.create_subscription(
        PoseStamped, "teleop/left_hand/pose", heard.append, 10
    )
    wires.wait(
        lambda: wires.node.out("teleop/<frame>/pose", "left_hand").get_subscription_count(),
        "it is connected",
    )
    X = wires.node.session.offer.frames["left_hand"].copy()
    X.translation[2] += 0.1
    wish(wires, lambda session: session.lead("left_hand", X))
    wires.wait(lambda: heard, "a pose goes out")
    np.testing.assert_allclose(read_pose(heard[0].pose), pin.SE3ToXYZQUAT(X))
    assert heard[0].header.frame_id == "odom"
    wires.probe.destroy_subscription(subscription)


WISHES = {
    "pause": (lambda session: session.pause(True), ("pause", True)),
    "go on": (lambda session: session.pause(False), ("pause", False)),
    "step": (lambda session: session.step(), ("step", None)),
    "reset": (lambda session: session.reset(), ("reset", None)),
    "cut": (lambda session: session.switch("grip", False), ("cut/grip", None)),
    "connect": (lambda session: session.switch("grip", True), ("connect/grip", None)),
    "rule": (
        lambda session: session.choose_rule("minimum_torque_limited"),
        ("rule", "minimum_torque_limited"),
    ),
}


@pytest.mark.parametrize("name", WISHES)
def test_wishes_reach_services(wires, name):
    what, expected = WISHES[name]
    end = monotonic() + 4.0
    wires.asked.clear()
    while not wires.asked and monotonic() < end:  # the first time its service has to be found
        wish(wires, what)
        with wires.changed:
            wires.changed.wait(0.05)
    assert wires.asked[0] == expected


SENSELESS = {
    "no such body": lambda session: session.pull("wing", np.zeros(3), np.ones(3)),
    "no number": lambda session: session.pull("pelvis", np.zeros(3), np.full(3, np.nan)),
    "no such frame": lambda session: session.lead("tail", pin.SE3.Identity()),
    "no such connection": lambda session: session.switch("rope", True),
    "no such rule": lambda session: session.choose_rule("hope"),
}


@pytest.mark.parametrize("name", SENSELESS)
def test_what_makes_no_sense_changes_nothing(wires, name):
    show(wires)
    before = wires.counts["push"]
    wires.asked.clear()
    wish(wires, SENSELESS[name])
    show(wires)
    assert wires.counts["push"] == before
    assert wires.asked == []
    assert wires.node.status == "SHOWING"


def test_troubles_of_nodes_are_told(wires):
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN,
        name="/effort_guard",
        message="stale",
        values=[KeyValue(key="reason", value="late")],
    )
    wires.out["/diagnostics"] = wires.probe.create_publisher(DiagnosticArray, "/diagnostics", 10)
    wires.wait(lambda: wires.out["/diagnostics"].get_subscription_count() >= 2, "it is connected")
    wires.out["/diagnostics"].publish(DiagnosticArray(status=[status]))
    wires.wait(lambda: "/effort_guard" in wires.node.session.troubles, "it is heard")
    assert "stale late" in wires.node.session.picture().status


def test_a_visitor_who_leaves_lets_go(wires, monkeypatch):
    show(wires)
    wish(wires, lambda session: session.pull("pelvis", np.zeros(3), np.ones(3)))
    monkeypatch.setattr(page.Page, "watched", False)
    wires.node.tick()
    wires.expect("UNWATCHED")
    assert wires.node.session._pull is None
