# SPDX-License-Identifier: Apache-2.0
"""Plans above the tick: contact schedule, height, centroidal path and footsteps, swing trajectories."""
