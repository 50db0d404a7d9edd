"""The world that steps: bodies under torques, contacts and impacts, in chains that open and close, with books that must balance."""
