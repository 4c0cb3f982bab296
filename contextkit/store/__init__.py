"""Where records live and are searched."""
