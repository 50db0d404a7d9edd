"""The planar biped of seven links: Euler-Lagrange and Newton-Euler equations, and the torques they leave open [BP, sec. 3.1]."""
