# SPDX-License-Identifier: Apache-2.0
"""Walks: footsteps, paths of the feet, a pendulum that stays bounded, all joints; the gaits of the papers."""
