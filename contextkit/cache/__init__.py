"""Caches of contexts and of source results."""
