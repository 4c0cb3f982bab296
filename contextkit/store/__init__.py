"""Stores of records, embedded or on a server."""
