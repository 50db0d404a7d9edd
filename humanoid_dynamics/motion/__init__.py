"""Motions as functions of time: clips, schedules, gaits."""
