# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes: convert a message, call one library function, convert back, report."""

__all__: tuple[str, ...] = ()  # nodes are programs
