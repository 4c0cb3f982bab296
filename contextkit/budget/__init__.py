"""Split a token budget, and fit items into it."""
