"""Each item's text.

| module | what it knows |
|---|---|
| `stage` | what its source makes of it, and how it is shortened |
| `looks` | how items look where their source has no format of its own |
| `parts` | what of a formatted text is its own words, and what stands around those |
"""
