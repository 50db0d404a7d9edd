"""Dynamics of humanoids: torques with physically right contact forces, at kilohertz, from a URDF alone."""
