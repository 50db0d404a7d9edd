# SPDX-License-Identifier: Apache-2.0
"""What a clip is looked over for: limits, forces, jumps, the zero-moment point; how findings are told, and how often they are wrong."""
