"""Files as records: which of them changed since the last index run, and bringing those up to date.

What a source that indexes files needs of a run, so that an unchanged workspace costs a look at
each file's times, and a run that is ended at any moment is healed by the next one:

```python
from contextkit.file_index import FileIndex, FileListing, WorkspaceFile

def contextkit_index(indexer: Indexer) -> IndexReport:
    listing = FileListing(indexer.workspace)
    for path in ("tide.md", "docs/ebb.md"):
        listing.add(path)
    return FileIndex(indexer, version=1).update(listing, records_of)

def records_of(file: WorkspaceFile, content: bytes) -> list[Record]:
    return [Record(id=file.path, text=content.decode(), fields={"file_path": file.path})]
```

A source says which files there are and what it makes of each. Files that hold keys by their
names, such as `.env` and `id_rsa` (`is_key_file`), are skipped whatever it lists.
"""

from __future__ import annotations

from contextkit.file_index.globs import compile_globs, wrong_globs
from contextkit.file_index.key_files import is_key_file
from contextkit.file_index.listing import (
    FileListing,
    Stamp,
    WorkspaceFile,
)
from contextkit.file_index.run import FileIndex, RecordsOf, SkipFileError
from contextkit.workspace.folder import Folder, Status

__all__ = [
    "FileIndex",
    "FileListing",
    "Folder",
    "RecordsOf",
    "SkipFileError",
    "Stamp",
    "Status",
    "WorkspaceFile",
    "compile_globs",
    "is_key_file",
    "wrong_globs",
]
