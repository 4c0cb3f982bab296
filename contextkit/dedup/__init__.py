"""Removal of duplicate items."""
