"""Dense vectors of records and queries."""
