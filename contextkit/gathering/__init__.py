"""Asking all sources at once, each within its own time, none able to harm another.

| module | what it knows |
|---|---|
| `gather` | the stage |
| `admission` | how many assemblies run at once |
| `holding` | the store, held while the sources ask it |
| `breakers` | leaving sources alone that keep failing |
"""
