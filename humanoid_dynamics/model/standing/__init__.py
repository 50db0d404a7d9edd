"""What a robot stands on and how: its feet, their soles, and the posture it rests in."""
