# SPDX-License-Identifier: Apache-2.0
"""Contacts of the world: what touches, with what impulses, sticking and sliding, by rows and by kernels."""
