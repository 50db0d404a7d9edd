"""Time series with names: in memory, as numpy archives, and as bags with the messages of ROS 2."""
