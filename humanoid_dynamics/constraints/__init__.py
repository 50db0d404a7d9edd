"""What the motion must satisfy: rows J v = 0 with their drift and position error, and the null-space map v = Gamma u."""
