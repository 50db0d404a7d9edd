"""Benchmarks of the ROS graph: latency, lock-step, soak."""
