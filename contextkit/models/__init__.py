"""The values that flow through the stages."""
