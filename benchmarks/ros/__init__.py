# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of the ROS graph: latency, lock-step, soak."""
