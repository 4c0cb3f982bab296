"""Context for coding agents, sent in answer to their hooks.

`events` defines an event, `answer` builds its answer, and `hook` runs a hook's process. Agents
differ in the format of events and answers: their plugins translate it.
"""

from __future__ import annotations
