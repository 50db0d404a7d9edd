# SPDX-License-Identifier: Apache-2.0
"""Motions as they were measured: files of rates, force plates, what they leave open, and files of the torques found."""
