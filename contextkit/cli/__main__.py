"""`python -m contextkit.cli`."""

from contextkit.cli import main

main()
