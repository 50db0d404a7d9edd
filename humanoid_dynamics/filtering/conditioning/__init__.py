# SPDX-License-Identifier: Apache-2.0
"""Stage A: from samples of a reference to targets a robot can reach: feet that stand, steps that fit, a bounded centre of mass."""
