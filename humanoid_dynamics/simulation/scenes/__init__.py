"""Scenes: who is where, what holds what together, and what happens when."""
