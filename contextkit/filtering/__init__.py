"""Which of the sources' items go on.

| module | what it knows |
|---|---|
| `sifting` | the request's own filters |
| `selection` | the relevance floor, and one of each that say the same |
| `gate` | questions about nothing: not searched for, and nothing goes on |
"""
