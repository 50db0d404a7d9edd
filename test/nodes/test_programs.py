# SPDX-License-Identifier: Apache-2.0
"""What a node says where there is no ROS."""

import pytest

from humanoid_dynamics.nodes import programs


def test_without_ros_a_node_ends_with_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(programs, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as caught:
        programs.simulator()
    assert caught.value.code == 2
    assert capsys.readouterr() == (
        "",
        "error: a node requires the package 'rclpy': pip install 'humanoid_dynamics[ros]', or source a ROS installation\n",
    )
