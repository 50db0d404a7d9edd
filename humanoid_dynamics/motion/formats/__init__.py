"""Files of motion: one module per format, and detection by content."""
