"""The equations of motion under constraints, and the questions asked of them: inverse, forward, impact, projection, audit."""
