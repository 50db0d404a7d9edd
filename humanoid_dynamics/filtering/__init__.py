"""References in, physically consistent motion out."""
