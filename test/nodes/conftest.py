# SPDX-License-Identifier: Apache-2.0
"""ROS for a module of tests: on this machine alone, in a domain that hardly anybody else has."""

import random

import pytest


@pytest.fixture(scope="module")
def ros(tmp_path_factory):
    import rclpy

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("log")))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        patch.setenv("ROS_DOMAIN_ID", str(random.SystemRandom().randint(1, 101)))
        rclpy.init()
        yield
        rclpy.try_shutdown()
