"""Examine the parts one after the other.

Each part is guarded against errors of the others and of its own.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define, field

from contextkit.agent.sessions import journal
from contextkit.cli.checks.data import StoreCheck, cache_findings, index_findings
from contextkit.cli.checks.finding import Finding, fine, problem, timed, warning
from contextkit.cli.checks.hooks import hook_findings
from contextkit.cli.checks.owner import owner_findings
from contextkit.cli.checks.setup import (
    ANSWERED,
    ConfigurationCheck,
    PluginCheck,
    health_findings,
    probe_sources,
)
from contextkit.cli.checks.surroundings import git_findings, model_findings, secret_findings
from contextkit.config.project_files import read_project
from contextkit.config.projects import identify
from contextkit.config.settings import Config
from contextkit.embedding.choice import PluginEmbedders
from contextkit.errors import WorkspaceError
from contextkit.kit import ContextKit
from contextkit.package import VERSION
from contextkit.plugin.manager import SourceRegistry
from contextkit.workspace.find import Workspace, find_workspace


def examine(
    folder: str | Path = ".", *, settings: Mapping[str, Any] | None = None, deep: bool = False
) -> Iterator[Finding]:
    """Examine all parts of a setup, and change none.

    A broken part does not stop the examination of the others.

    Args:
        folder: a folder in the workspace.
        settings: dotted key -> value, stronger than files and environment.
        deep: whether every stored record is read and verified, which takes as long as an export.

    Yields:
        The findings, part by part.
    """
    examination = _Examination(Path(folder), settings or {}, deep)
    for part, check in (
        ("contextkit", examination.program),
        ("workspace", examination.place),
        ("configuration", examination.configuration),
        ("project", examination.project),
        ("plugins", examination.plugins),
        ("store", examination.store),
        ("models", examination.models),
        ("cache", examination.cache),
        ("index", examination.index),
        ("secrets", examination.secrets),
        ("health", examination.health),
        ("assembly", examination.assembly),
        ("hooks", partial(hook_findings, journal())),
        ("git", examination.git),
    ):
        yield from timed(part, check)
    examination.close()


@define
class _Examination:
    """The state that each part passes to the next."""

    folder: Path
    settings: Mapping[str, Any]
    deep: bool
    workspace: Workspace = field(init=False)
    found: bool = field(default=False, init=False)
    config: Config = field(factory=Config, init=False)
    registry: SourceRegistry = field(init=False)
    kit: ContextKit | None = field(default=None, init=False)
    stored: bool = field(default=False, init=False)

    @workspace.default
    def _not_found_yet(self) -> Workspace:
        return Workspace(self.folder)

    @registry.default
    def _no_plugins(self) -> SourceRegistry:
        return SourceRegistry(self.config, entry_points=False)

    def program(self) -> Iterator[Finding]:
        version = f"{platform.python_implementation()} {platform.python_version()}"
        yield fine("contextkit", f"{VERSION} on {version}, {platform.platform(terse=True)}")

    def place(self) -> Iterator[Finding]:
        try:
            self.workspace = find_workspace(self.folder)
        except WorkspaceError as error:
            yield problem("workspace", str(error), "choose another folder with -C")
            return
        self.found = True
        yield fine("workspace", str(self.workspace.root))

    def configuration(self) -> Iterator[Finding]:
        check = ConfigurationCheck(self.workspace, self.settings)
        yield from check.findings()
        self.config = check.usable()

    def project(self) -> Iterator[Finding]:
        found = identify(self.workspace.root, self.config, claim=False)
        if found.problem:
            yield warning("project", found.problem, found.remedy)
            return
        known = read_project(found.project)
        folders = len(known.members) if known else 1
        shared = f", shared by {folders} folders" if folders > 1 else ""
        taken = (
            f", with the records of {', '.join(known.adopted)}" if known and known.adopted else ""
        )
        yield fine("project", f"{found.project}{shared}{taken}")
        yield from owner_findings(self.config, found.project)

    def plugins(self) -> Iterator[Finding]:
        check = PluginCheck(self.config, self.workspace.root)
        self.registry = check.registry
        yield from check.findings()

    def store(self) -> Iterator[Finding]:
        self.kit = ContextKit.over(self.workspace, self.config, self.registry)
        self.kit.claims_name = False
        check = StoreCheck(self.kit.store, self.registry, self.deep)
        yield from check.findings()
        self.stored = check.usable

    def models(self) -> Iterator[Finding]:
        embedders = self.kit.store.embedders if self.kit else None
        own = PluginEmbedders(self.config, self.registry)
        yield from model_findings(embedders or own, self.config, self.registry)

    def cache(self) -> Iterator[Finding]:
        if self.kit is not None:
            yield from cache_findings(self.kit.caches)

    def index(self) -> Iterator[Finding]:
        if self.kit is not None and self.found:
            store = self.kit.store if self.stored else None
            yield from index_findings(self.registry, store, self.kit.workspace.root)

    def secrets(self) -> Iterator[Finding]:
        store = self.kit.store if self.kit is not None and self.stored else None
        yield from secret_findings(self.registry, store)

    def health(self) -> Iterator[Finding]:
        if self.kit is not None:
            yield from health_findings(self.registry, self.kit)

    def assembly(self) -> Iterator[Finding]:
        """Assemble a context for a real question.

        The check asks in the same way as every request, and needs a store that opens.
        """
        if self.kit is None or not self.stored:
            return
        rows = probe_sources(self.kit)
        failed = [row for row in rows if row.state not in ANSWERED]
        for row in failed:
            yield warning(
                "assembly",
                f"{row.source}: {row.reason}",
                "`contextkit --debug doctor` shows the traceback",
            )
        if rows and not failed:
            answered = ", ".join(f"{r.source} {r.milliseconds:.0f} ms" for r in rows)
            yield fine("assembly", f"every source answers: {answered}")

    def git(self) -> Iterator[Finding]:
        if self.found:
            yield from git_findings(self.workspace.root)

    def close(self) -> None:
        if self.kit is not None:
            self.kit.close()
