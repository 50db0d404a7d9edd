# SPDX-License-Identifier: Apache-2.0
"""Scenes: who is where, what holds what together, and what happens when."""
