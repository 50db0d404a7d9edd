"""Node ``echo``: what the middleware and rclpy alone take, beside which the controller is timed."""

from __future__ import annotations

from humanoid_dynamics.nodes.measure import EchoNode
from humanoid_dynamics.nodes.running import keep_rate, run


def main() -> None:
    """Run the node."""
    run(EchoNode, lambda _node, stop: keep_rate(10.0, stop, lambda: None))
