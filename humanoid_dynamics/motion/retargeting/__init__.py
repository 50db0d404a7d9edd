"""Moving skeletons, and which of their joints is which point of a body."""
