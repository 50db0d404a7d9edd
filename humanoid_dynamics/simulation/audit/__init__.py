"""Motions whose exact answer is known, run in the world."""
