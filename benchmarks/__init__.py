# SPDX-License-Identifier: Apache-2.0
"""How fast: our routes beside floors, literal routes and peers, interleaved in one process; goals are ratios inside one run."""
