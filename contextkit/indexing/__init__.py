"""Bringing records up to date with a workspace."""
