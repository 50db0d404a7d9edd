"""Motion: clips in and out, schedules, gaits, blending."""
