# SPDX-License-Identifier: Apache-2.0
"""Experiments of the paper about the dynamics filter: motions, runs over whole clips, and their bounds [DF, sec. 5]."""
