"""What the robot is: its tree, limits, surfaces and loops, and how it is read from a URDF."""
