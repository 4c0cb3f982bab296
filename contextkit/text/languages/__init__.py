"""Stop words and technical words of several languages."""
