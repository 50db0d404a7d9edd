# SPDX-License-Identifier: Apache-2.0
"""The filter along with the world: pieces in as they come, motion out when it is due."""
