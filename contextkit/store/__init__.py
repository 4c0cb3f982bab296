"""Where records live and are searched: embedded in the process, or on a Qdrant server."""
