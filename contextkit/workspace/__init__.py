"""The workspace: the folder that a question is about, and what a look at it tells.

| module | what it knows |
|---|---|
| `finding` | which folder it is (`find_workspace`) |
| `facts` | what the names of its files tell |
| `folder` | looking at files and reading them, through no symbolic link (`Folder`) |
| `git` | running git so that a repository cannot name a program that runs (`Git`) |
| `git_folders` | where `.git` and bare repositories are, told without git |
| `git_stream` | reading what a process writes, as it comes |
| `repository` | which repository a work tree belongs to (`repository_of`) |
| `work_tree` | the files that git lists (`git_files`) |
"""

from __future__ import annotations

from contextkit.workspace.finding import PROJECT_FILE, Workspace, find_workspace
from contextkit.workspace.repository import repository_of

__all__ = ["PROJECT_FILE", "Workspace", "find_workspace", "repository_of"]
