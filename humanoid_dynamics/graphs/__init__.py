"""Which nodes run together: graphs as data, and processes that are looked after; no ROS here."""
