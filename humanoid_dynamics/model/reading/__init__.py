# SPDX-License-Identifier: Apache-2.0
"""How a robot is read: URDF, xacro, objects of other libraries and YAML, as text, into typed records."""
