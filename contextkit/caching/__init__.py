"""Keeping for a while what was assembled, found and embedded: in memory, and in Redis."""
