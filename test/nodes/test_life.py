# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a transition is told, and leaves nothing behind."""

import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from rclpy.lifecycle import TransitionCallbackReturn  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from humanoid_dynamics.errors import HumanoidDynamicsError  # noqa: E402
from humanoid_dynamics.nodes.effort_guard import EffortGuardNode  # noqa: E402

pytestmark = pytest.mark.usefixtures("ros")


@pytest.fixture
def guard():
    values = {"joints": ["hip"], "effort_limits": [10.0], "safe_output": "damping"}
    node = EffortGuardNode(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    yield node
    node.destroy_node()


@pytest.mark.parametrize("failure", [HumanoidDynamicsError("no torch"), ValueError("no torch")])
@pytest.mark.parametrize("step", ["prepare", "begin"])
def test_a_transition_that_fails_is_told(guard, monkeypatch, capfd, step, failure):
    def fail():
        raise failure

    monkeypatch.setattr(guard, step, fail)
    with pytest.raises(HumanoidDynamicsError, match="no torch"):
        guard.start()
    assert "no torch" in capfd.readouterr().err
    assert not guard.active
    monkeypatch.undo()
    if type(failure) is ValueError:
        guard.start()  # it was cleaned up
        assert guard.active


def test_a_node_that_failed_can_be_tried_again(guard, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(
            guard, "begin", lambda: (_ for _ in ()).throw(HumanoidDynamicsError("not yet"))
        )
        with pytest.raises(HumanoidDynamicsError, match="not yet"):
            guard.start()
    assert guard.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert guard.active
    for _ in range(5):
        assert guard.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
        assert guard.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
        assert guard.trigger_configure() == TransitionCallbackReturn.SUCCESS
        assert guard.trigger_activate() == TransitionCallbackReturn.SUCCESS
