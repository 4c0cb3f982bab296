"""What is found: recall and ranking on public data with gold answers, one command for each."""

from __future__ import annotations
