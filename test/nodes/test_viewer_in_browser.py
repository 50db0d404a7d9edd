# SPDX-License-Identifier: Apache-2.0
"""The node's page in a real browser: what a hand drags there arrives on topics."""

import random
import threading

import numpy as np
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)
pytest.importorskip("viser", reason="the page's extra is not installed")
pytest.importorskip("selenium", reason="selenium is not installed")

from browsers import BROWSER, DRIVER, MISSING, drag, on_screen, start_browser
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from wires import Wires

from humanoid_dynamics.nodes.messages import read_pose, read_wrench, write_odometry
from humanoid_dynamics.nodes.viewer import ViewerNode

pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason=MISSING)
GRIPS = (
    (0, -15),
    (0, -25),
    (12, 3),
    (20, 6),
    (-12, 3),
    (-20, 6),
)  # pixels from the middle of a gizmo: its handles are small


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("log")))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        patch.setenv("ROS_DOMAIN_ID", str(random.SystemRandom().randint(1, 101)))
        rclpy.init()
        wires = Wires(
            ViewerNode, robot="human28", port=17471, leads=True, rule="transition_limited"
        )
        wires.begin()
        wires.poses = []
        wires.probe.create_subscription(
            PoseStamped, "teleop/left_hand/pose", wires.poses.append, 10
        )
        ended = threading.Event()
        going = threading.Thread(target=go, args=(wires, ended), daemon=True)
        browser = start_browser()
        try:
            going.start()
            browser.get(wires.node.page.address)
            wires.wait(lambda: wires.node.page._server.get_clients(), "somebody looks")
            threading.Event().wait(
                6.0
            )  # until a browser without a graphics card has drawn everything
            yield wires, browser
        finally:
            ended.set()
            going.join(5.0)
            browser.quit()
            wires.end()
            rclpy.try_shutdown()


def go(wires, ended):
    """Let the robot stand, and the page be drawn."""
    robot = wires.node.robot
    message = JointState(
        name=list(robot.actuated),
        position=[float(robot.posture[robot.joint(name).q.start]) for name in robot.actuated],
    )
    while not ended.wait(0.1):
        message.header.stamp = wires.now()
        wires.out["odom"].publish(
            write_odometry(
                np.array(robot.posture[:7]), np.zeros(6), message.header.stamp, ("odom", "pelvis")
            )
        )
        wires.out["joint_states"].publish(message)
        wires.node.tick()


def test_a_dragged_gizmo_arrives_as_a_pose(stage):
    wires, browser = stage
    start = wires.node.session.offer.frames["left_hand"]
    middle = on_screen(browser, wires.node.page, start.translation)
    for place in GRIPS:
        drag(browser, middle + place, 6, (6, -4))
        if wires.poses:
            break
        threading.Event().wait(1.0)
    wires.wait(lambda: wires.poses, "a pose goes out")
    last = wires.poses[-1]
    moved = read_pose(last.pose)[:3] - start.translation
    assert last.header.frame_id == "odom"
    turned = abs(read_pose(last.pose)[6]) < 1.0  # a ring of the gizmo was met instead of an arrow
    assert turned or 0.0 < np.linalg.norm(moved) < 1.0
    assert np.linalg.norm(moved) < 1.0


def test_a_dragged_link_arrives_as_a_push(stage):
    wires, browser = stage
    before = wires.counts["push"]
    drag(
        browser, on_screen(browser, wires.node.page, wires.node.session.picture().com), 10, (12, 0)
    )
    wires.wait(lambda: wires.counts["push"] > before, "a push goes out")
    force, _ = read_wrench(wires.heard["push"])
    assert 5.0 < np.linalg.norm(force) < 1.6 * wires.node.robot.mass * 9.81
