"""Geometry without a robot: arrays as values, frames, polygons, cones, small dense kernels."""
