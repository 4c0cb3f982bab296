"""Context for coding agents, at the events that their hooks report.

`events` says what an event is, `answering` what it is answered with, `client` is the life of
a hook's process. Agents differ in how they write events and answers down: that is a plugin's.
"""

from __future__ import annotations
