# SPDX-License-Identifier: Apache-2.0
"""Node ``echo``: answers each joint state at once; its latency is that of the middleware and rclpy alone."""

from humanoid_dynamics.nodes.programs import hold_signals

if __name__ == "__main__":
    hold_signals()
    from benchmarks.ros.latency import EchoNode
    from humanoid_dynamics.nodes.running import keep_rate, run

    run(EchoNode, lambda _node, stop: keep_rate(10.0, stop, lambda: None))
