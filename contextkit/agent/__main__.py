"""Entry point of the background server: `python -m contextkit.agent`."""

from __future__ import annotations

import sys

from contextkit.agent.running import run_detached

if __name__ == "__main__":
    run_detached(sys.argv[2] if sys.argv[1:2] == ["--warm"] and len(sys.argv) > 2 else None)
