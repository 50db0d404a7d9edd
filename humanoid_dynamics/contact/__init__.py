"""Contacts: which wrenches a surface can carry, and how close one comes to what it cannot."""
