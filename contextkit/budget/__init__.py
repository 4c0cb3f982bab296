"""Splitting a token budget, and fitting items into it."""
