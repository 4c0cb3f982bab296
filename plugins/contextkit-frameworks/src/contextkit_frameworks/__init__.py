"""contextkit in agent frameworks: one module for each, imported by its name."""
