# SPDX-License-Identifier: Apache-2.0
"""Poses of hands, head, pelvis and feet as an operator sends them, through the balanced tick."""
