"""Something new joins a context that was assembled.

| module | what it knows |
|---|---|
| `ongoing` | what a context keeps of its assembly for that |
| `joining` | the new item beside its source's others, in its place |
"""
