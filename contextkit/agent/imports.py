"""Import the past sessions of agents into the sources that keep them.

An importer (`contextkit_importers`) lists an agent's transcripts and reads them. Each source with
`SourceInfo.imports` keeps what it needs of the sessions of this project.
"""

from __future__ import annotations

import math
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from attrs import define, field, frozen

from contextkit.config.load import load_config
from contextkit.config.project_files import read_project
from contextkit.config.projects import identify
from contextkit.errors import (
    ContextKitError,
    PluginError,
    SourceError,
    StoreError,
    WorkspaceError,
    in_words,
)
from contextkit.kit import ContextKit
from contextkit.models.indexer import Progress
from contextkit.models.transcripts import (
    Imported,
    ImportedSession,
    LeftOut,
    PastEvent,
    SessionImporter,
    Transcript,
)
from contextkit.plugin.checks import checked_importers, log_failure
from contextkit.plugin.manager import SourceRegistry
from contextkit.workspace.find import find_workspace, repository_of

HOOK = "contextkit_importers"
_ELSEWHERE = "session of another project"
_GONE = "session in a folder that no longer exists"
_NOWHERE = "session without a working folder"
_OLD = "session that ended before --since"

_Keep = Callable[[ImportedSession, ContextKit], Imported]


def offered_importers(registry: SourceRegistry) -> Mapping[str, SessionImporter]:
    """Map names to the importers of the enabled plugins.

    A plugin whose hook fails offers none; the failure is logged.

    Raises `PluginError` where two plugins offer one name.
    """
    return registry.offered(HOOK, checked_importers, "importer")


@define
class ImportSummary:
    """The result of an import.

    Attributes:
        sessions: the number of sessions with new events.
        unchanged: the number of sessions that were imported before and have no news.
        events: the number of stored events.
        known: the number of events that were stored before.
        skipped: reason -> the number of lines, events or sessions that were left out.
    """

    sessions: int = 0
    unchanged: int = 0
    events: int = 0
    known: int = 0
    skipped: Counter[str] = field(factory=Counter)


@define
class ProjectFolders:
    """Decides which folders belong to a kit's project.

    These are the workspace, the other work trees and clones that share its records, and their
    subfolders. A folder that no longer exists belongs to it if it was below one of these.
    """

    kit: ContextKit
    _roots: dict[str, Path | None] = field(factory=dict, init=False)

    def root_of(self, folder: str) -> Path | None:
        """Return the root of the workspace that a folder is in.

        None for a folder of another project.
        """
        if folder not in self._roots:
            self._roots[folder] = self._find(Path(folder))
        return self._roots[folder]

    def _find(self, folder: Path) -> Path | None:
        here = self.kit.workspace.root
        if not folder.is_absolute():
            return None
        try:
            found = find_workspace(folder)
        except WorkspaceError:
            return next(
                (root for root in self._roots_of_gone() if folder.is_relative_to(root)), None
            )
        if found.root == here:
            return here
        try:
            # A name in the environment is meant for this workspace alone.
            config = load_config(found, environment={})
            other = identify(found.root, config, claim=False)
        except ContextKitError:
            return None
        return found.root if other.project == self.kit.identity.project else None

    def _roots_of_gone(self) -> Iterator[Path]:
        """Yield the folders below which a folder that is gone was the project's."""
        workspace = self.kit.workspace
        # A folder without either, such as a home, may have had other projects in it.
        if workspace.config_file is not None or repository_of(workspace.root) is not None:
            yield workspace.root
        project = read_project(self.kit.identity.project)
        yield from (Path(member.root) for member in (project.members if project else ()))


@frozen
class PastSession:
    """A transcript of the kit's project.

    Attributes:
        transcript: the transcript.
        root: the root folder of the workspace that the session began in.
    """

    transcript: Transcript
    root: Path


def transcripts_of(importer: SessionImporter, folder: Path | None) -> list[Transcript]:
    """List an importer's transcripts, the last changed first.

    Raises `SourceError` if the importer fails.
    """
    try:
        found = list(importer.find(folder))
    except Exception as error:
        raise SourceError(importer.name, HOOK, in_words(error)) from error
    return sorted(found, key=lambda each: (-_modified(each.file), str(each.file)))


def sessions_of(
    kit: ContextKit, transcripts: Iterable[Transcript], skipped: Counter[str]
) -> Iterator[PastSession | None]:
    """Yield each transcript of the kit's project, None for another.

    Args:
        kit: the project.
        transcripts: the transcripts of an importer.
        skipped: counts the reasons why transcripts were left out.
    """
    folders = ProjectFolders(kit)
    for transcript in transcripts:
        try:
            folder = _first_folder(transcript)
        except Exception as error:  # noqa: BLE001 - a bad transcript affects only itself
            skipped[_failed(error)] += 1
            yield None
            continue
        root = folders.root_of(folder) if folder else None
        if root is None:
            skipped[_foreign(folder)] += 1
        yield None if root is None else PastSession(transcript, root)


def _foreign(folder: str) -> str:
    if not folder:
        return _NOWHERE
    return _ELSEWHERE if Path(folder).is_dir() else _GONE


def _first_folder(transcript: Transcript) -> str:
    folders = (part.folder for part in transcript.read() if isinstance(part, PastEvent))
    return next(filter(None, folders), "")


def import_sessions(
    kit: ContextKit,
    importer: SessionImporter,
    *,
    folder: Path | None = None,
    since: datetime | None = None,
    dry_run: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
) -> ImportSummary:
    """Import the project's past sessions of one agent.

    Unchanged sessions are not read again. An interrupted import continues.

    Args:
        kit: the project.
        importer: reads the agent's transcripts.
        folder: where they are; default: the agent's own folder.
        since: only later events.
        dry_run: True to count and store nothing.
        progress: called after each session.

    Raises:
        PluginError: no source that is on keeps past sessions.
        SourceError: the importer cannot list its transcripts.
        StoreError: the store fails; the sessions before it stay imported.
    """
    keepers = _keepers(kit.registry)
    transcripts = transcripts_of(importer, folder)
    least = -math.inf if since is None else since.timestamp()
    recent = [each for each in transcripts if _modified(each.file) >= least]
    run = _Run(kit, importer.name, keepers, since, dry_run)
    if len(recent) < len(transcripts):
        run.summary.skipped[_OLD] += len(transcripts) - len(recent)
    for done, past in enumerate(sessions_of(kit, recent, run.summary.skipped), start=1):
        if past is not None:
            run.add(past)
        progress(Progress(source=importer.name, label="sessions", done=done, total=len(recent)))
    return run.summary


@define
class _Run:
    """One import, and what it has done so far."""

    kit: ContextKit
    importer: str
    keepers: Mapping[str, _Keep]
    since: datetime | None
    dry_run: bool
    summary: ImportSummary = field(factory=ImportSummary)

    def add(self, past: PastSession) -> None:
        """Give one session to the sources that keep sessions."""
        results = []
        for keep in self.keepers.values():
            left_out: Counter[str] = Counter()
            try:
                results.append(keep(self._session(past, left_out), self.kit))
            except StoreError:
                raise
            except Exception as error:  # noqa: BLE001 - a bad transcript affects only itself
                self.summary.skipped[_failed(error)] += 1
        # Each keeper reads the same lines.
        self.summary.skipped += left_out
        for result in results:
            self.summary.events += result.stored
            self.summary.known += result.known
            self.summary.skipped += Counter(result.skipped)
        self.summary.sessions += any(result.stored for result in results)
        self.summary.unchanged += any(result.unchanged for result in results)

    def _session(self, past: PastSession, left_out: Counter[str]) -> ImportedSession:
        transcript = past.transcript
        return ImportedSession(
            session=transcript.session,
            importer=self.importer,
            file=transcript.file,
            size=transcript.file.stat().st_size,
            root=past.root,
            events=partial(_events, transcript, left_out),
            since=self.since,
            dry_run=self.dry_run,
        )


def _events(transcript: Transcript, left_out: Counter[str]) -> Iterator[PastEvent]:
    for part in transcript.read():
        if isinstance(part, LeftOut):
            left_out[part.reason] += 1
        else:
            yield part


def _keepers(registry: SourceRegistry) -> Mapping[str, _Keep]:
    keepers: dict[str, _Keep] = {}
    for source in registry.sources:
        try:
            if target := registry.info(source).imports:
                keepers[source] = pkgutil.resolve_name(target)
        except Exception as error:  # noqa: BLE001 - a broken source affects only itself
            log_failure(source, "imports", in_words(error))
    if not keepers:
        raise PluginError(
            "no source that is on keeps past sessions: install contextkit-events, or set "
            "`[sources.events] enabled = true`"
        )
    return keepers


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return math.inf


def _failed(error: Exception) -> str:
    return f"session that cannot be read ({in_words(error)})"
