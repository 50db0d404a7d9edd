# SPDX-License-Identifier: Apache-2.0
"""Moving skeletons, and which of their joints is which point of a body."""
