# SPDX-License-Identifier: Apache-2.0
"""Stage B: from a target and a state to consistent accelerations, wrenches and torques: one quadratic program per tick."""
