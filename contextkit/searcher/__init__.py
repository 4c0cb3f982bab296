"""A host's own searcher in place of the store.

| module | what it knows |
|---|---|
| `protocol` | what a host's object looks like (`Searcher`) |
| `calls` | which of its methods answers a source, and how it is called |
| `results` | how what it returns becomes hits |
| `values` | how objects of any kind become plain values |
| `filters` | which records match the filters that it was not asked for |
| `store` | the store that stands before the object (`SearcherStore`) |

Nothing is imported here: who wants `filters` alone, as a source without a store does, pays for no
more.
"""
