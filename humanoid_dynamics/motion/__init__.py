"""Motions as functions of time: clips in and out, schedules, gaits, blending."""
