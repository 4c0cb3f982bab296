"""Functions of texts: markup, truncation, tokens, languages, secrets."""
