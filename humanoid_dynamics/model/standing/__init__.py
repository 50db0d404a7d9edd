# SPDX-License-Identifier: Apache-2.0
"""What a robot stands on and how: its feet, their soles, and the posture it rests in."""
