"""From what a host asks to checked questions for the sources.

| module | what it knows |
|---|---|
| `requests`, `filters`, `since` | from a host's arguments to a checked request |
| `recipes` | the recipes that plugins offer |
| `sections` | from a request and a recipe to the questions for the sources |
| `patience` | how long they may take where somebody waits |
"""
