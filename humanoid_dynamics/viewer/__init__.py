"""A browser page over a picture value: what is drawn, where it comes from, and who may touch it."""
