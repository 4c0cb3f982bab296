"""Index a workspace: files, git, index runs, retention.

A source that makes records from files lists the files and turns each into records. If nothing
has changed, a run only looks at each file's times; an interrupted run is completed by the next
one:

```python
from contextkit.indexing import FileIndex, FileListing, WorkspaceFile

def contextkit_index(indexer: Indexer) -> IndexReport:
    listing = FileListing(indexer.workspace)
    for path in ("tide.md", "docs/ebb.md"):
        listing.add(path)
    return FileIndex(indexer, version=1).update(listing, records_of)

def records_of(file: WorkspaceFile, content: bytes) -> list[Record]:
    return [Record(id=file.path, text=content.decode(), fields={"file_path": file.path})]
```

Files whose names suggest secrets, such as `.env` and `id_rsa` (`is_key_file`), are skipped even
if a source lists them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextkit.package import lazy_names

if TYPE_CHECKING:
    from contextkit.indexing.files import (
        FileIndex as FileIndex,
        RecordsOf as RecordsOf,
        SkipFileError as SkipFileError,
    )
    from contextkit.indexing.globs import compile_globs as compile_globs, wrong_globs as wrong_globs
    from contextkit.indexing.listing import (
        FileListing as FileListing,
        Stamp as Stamp,
        WorkspaceFile as WorkspaceFile,
        is_key_file as is_key_file,
    )
    from contextkit.indexing.retention import (
        Retention as Retention,
        prune as prune,
        retention_of as retention_of,
    )
    from contextkit.indexing.run import IndexOutcome as IndexOutcome
    from contextkit.models.indexer import (
        Indexer as Indexer,
        IndexState as IndexState,
        Progress as Progress,
    )
    from contextkit.workspace.find import (
        PROJECT_FILE as PROJECT_FILE,
        Workspace as Workspace,
        find_workspace as find_workspace,
    )
    from contextkit.workspace.folder import Folder as Folder, Status as Status
    from contextkit.workspace.git import (
        Answer as Answer,
        Git as Git,
        GitError as GitError,
        GitFailedError as GitFailedError,
        GitMissingError as GitMissingError,
        GitTimeoutError as GitTimeoutError,
    )
    from contextkit.workspace.listing import (
        git_files as git_files,
        git_status_text as git_status_text,
    )
    from contextkit.workspace.tool_folders import (
        TOOL_FOLDERS as TOOL_FOLDERS,
        is_environment as is_environment,
    )

_NAMES = {
    "files": "FileIndex RecordsOf SkipFileError",
    "globs": "compile_globs wrong_globs",
    "listing": "FileListing Stamp WorkspaceFile is_key_file",
    "retention": "Retention prune retention_of",
    "run": "IndexOutcome",
    "..workspace.find": "PROJECT_FILE Workspace find_workspace",
    "..workspace.folder": "Folder Status",
    "..workspace.git": "Answer Git GitError GitFailedError GitMissingError GitTimeoutError",
    "..workspace.listing": "git_files git_status_text",
    "..workspace.tool_folders": "TOOL_FOLDERS is_environment",
    "..models.indexer": "Indexer IndexState Progress",
}

__all__ = [name for names in _NAMES.values() for name in names.split()]
__getattr__ = lazy_names(__name__, **_NAMES)
