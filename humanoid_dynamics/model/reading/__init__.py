"""How a robot is read: URDF, xacro, objects of other libraries and YAML, as text, into typed records."""
