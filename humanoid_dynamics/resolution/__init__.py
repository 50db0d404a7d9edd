"""Choosing one answer among many: torques and contact wrenches for a wanted motion."""
