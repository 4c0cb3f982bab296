"""Hooks, and the registry that loads and calls plugins."""
