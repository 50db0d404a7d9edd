"""Pictures of records and of robots, drawn with matplotlib; everything else runs without it."""
