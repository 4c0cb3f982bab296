"""Fitting items into the token budget.

| module | what it knows |
|---|---|
| `budget` | splitting a budget by weight |
| `lanes` | the sections on their way into it: what each may show |
| `weighing` | how well each section answers: its room and its place |
| `notes` | which notes have room of their own, and stand first |
| `stopping` | what is not worth its tokens beside what answers |
| `pieces` | what is placed: lanes, pieces, and how a piece is made to fit |
| `placing` | placing pieces within a number of tokens: one attempt |
| `fit` | attempts until the rendered text holds the budget |
"""
