"""Kane's equations for n wheeled links: two equations of motion whatever the length, in O(n)."""
