"""From the pieces that have a place to the text of the context.

| module | what it knows |
|---|---|
| `text` | the whole text, in the order that the request wants |
| `additional` | the host's own text, which has its tokens first |
| `source_listing` | the list of sources, where that is wanted |
"""
