# SPDX-License-Identifier: Apache-2.0
"""The filter as the paper has it: control points, contact procedure, collisions, and its experiments [DF]."""
