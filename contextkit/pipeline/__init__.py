"""The stages from a request to a context."""
