"""The workspace: the folder that a question is about, and what a look at it tells.

| module | what it knows |
|---|---|
| `finding` | which folder it is (`find_workspace`) |
| `facts` | what the names of its files tell |
| `repository` | which repository a work tree belongs to (`repository_of`) |
| `walking` | its files where git does not list them (`walk_files`) |
| `git_program` | running `git` for a look at its repository |
"""

from __future__ import annotations

from contextkit.workspace.finding import PROJECT_FILE, Workspace, find_workspace
from contextkit.workspace.repository import repository_of
from contextkit.workspace.walking import walk_files

__all__ = ["PROJECT_FILE", "Workspace", "find_workspace", "repository_of", "walk_files"]
