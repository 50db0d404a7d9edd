# SPDX-License-Identifier: Apache-2.0
"""Motions whose exact answer is known, run in the world."""
