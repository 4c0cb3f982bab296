"""Which items were chosen before: a signal for strategies that count it.

| module | what it knows |
|---|---|
| `history` | what is kept of each project |
| `choosing` | its part in one assembly: read before items are scored, written when they fit |
"""
