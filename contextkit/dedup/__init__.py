"""Removal of items that say the same thing."""
