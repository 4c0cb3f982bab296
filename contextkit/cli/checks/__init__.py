"""Examine every part of a contextkit setup.

```python
from contextkit.cli.checks import examine

for finding in examine("."):
    print(finding.state, finding.part, finding.text)
```
"""

from __future__ import annotations

from contextkit.cli.checks.examine import examine
from contextkit.cli.checks.finding import Finding, State, worst

__all__ = ["Finding", "State", "examine", "worst"]
