"""From items to an order: by relevance, and by what else is known of them.

| module | what it knows |
|---|---|
| `scoring` | the stage: relevance first, with small boosts |
| `named_dates` | dates that a query names, and what came to be then |
| `neighbours` | records that stand beside each other support each other |
| `updates` | of items that contradict each other the newest counts |
| `diversity` | of two items that resemble each other, the worse one waits |
"""
