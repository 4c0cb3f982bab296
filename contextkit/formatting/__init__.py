"""Each item's text.

| module | what it knows |
|---|---|
| `stage` | what its source makes of it, and how it is shortened |
| `looks` | how items look where their source has no format of its own |
"""
