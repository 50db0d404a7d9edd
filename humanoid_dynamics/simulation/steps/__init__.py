# SPDX-License-Identifier: Apache-2.0
"""One step of the world: tables, terms, the phases of a step, and the same in one compiled call."""
