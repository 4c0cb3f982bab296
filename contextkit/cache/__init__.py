"""Caches of contexts, of source results, and of query vectors."""
