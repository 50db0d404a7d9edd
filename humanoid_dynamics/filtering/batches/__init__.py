"""Many clips: resumable, on processes or on a cluster."""
