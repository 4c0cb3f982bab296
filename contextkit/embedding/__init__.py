"""Dense vectors for records and queries."""
