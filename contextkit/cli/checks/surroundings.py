"""Check git, the embedding models and the redaction of secrets.

The checks show whether git is there and the state of the workspace's repository, whether the
embedding models load and give vectors, whether secrets are redacted, and how many are left in the
texts that people and agents wrote.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from contextkit.cli.checks.finding import Finding, fine, problem, warning
from contextkit.config.settings import Config
from contextkit.embedding.choice import Embedders
from contextkit.embedding.embedder import Embedder, KeywordsOnly
from contextkit.errors import ConfigError, RecordDamagedError
from contextkit.models.record import KEEP_SECRET, REDACTIONS
from contextkit.pipeline.redact import Redactor
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore, in_batches
from contextkit.workspace.git import Git, GitError, GitFailedError, GitMissingError

_GIT = "git"
_PARTIAL = r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$"
_WANTED = "install git, or put it on the PATH: it reads the history and the ignored files"


def git_findings(root: Path) -> Iterator[Finding]:
    """Yield git's version and the state of the workspace's repository."""
    has_repository = (root / ".git").exists()
    git = Git(root)
    try:
        version = git.run("version").text.strip()
    except GitMissingError:
        what = "git is not on the PATH"
        yield problem(_GIT, what, _WANTED) if has_repository else warning(_GIT, what, _WANTED)
        return
    except GitError as error:
        yield problem(_GIT, str(error), "`git version` must work first")
        return
    number = re.search(r"(?<!\d)\d++(?:\.\d++)+", version)
    yield fine(_GIT, f"version {number.group() if number else version}")
    try:
        yield from _repository(git)
    except GitFailedError as error:
        if not has_repository and "not a git repository" in error.complaint:
            yield fine(_GIT, f"{root} is not a repository: there are no commits to index")
        else:
            yield problem(_GIT, error.complaint, "`git status` there must work first")
    except GitError as error:
        yield problem(_GIT, str(error), "`git status` there must work first")


def _repository(git: Git) -> Iterator[Finding]:
    options = ("--porcelain=v2", "--branch", "--untracked-files=normal")
    lines = git.run("status", *options, "--", git.here).text.splitlines()
    heads = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# branch."))
    changed = sum(1 for line in lines if not line.startswith("#"))
    state = f"{changed} changed files" if changed else "nothing changed"
    if heads.get("branch.oid") == "(initial)":
        yield fine(_GIT, f"no commit yet; {state}")
        return
    yield fine(_GIT, f"on {heads.get('branch.head')} at {heads['branch.oid'][:7]}; {state}")
    if git.run("rev-parse", "--is-shallow-repository").text.strip() == "true":
        yield warning(
            _GIT, "the clone is shallow: older history is missing", "run `git fetch --unshallow`"
        )
    yield from _missing(git)


def _missing(git: Git) -> Iterator[Finding]:
    """Report history that is missing on this machine.

    Nothing is fetched.
    """
    partial = git.run("config", "--get-regexp", _PARTIAL, check=False)
    if partial.output.strip():
        what = "a partial clone: commits are indexed without the objects left on the server"
        yield warning(_GIT, what, "run `git fetch --refetch --no-filter`")
    try:
        git.run("rev-list", "--count", "HEAD")
    except GitFailedError as error:
        yield warning(_GIT, f"the history is incomplete: {error.complaint}", "run `git fsck`")


_MODELS = "models"
_TEXT = "how does it begin?"


def model_findings(
    embedders: Embedders, config: Config, registry: SourceRegistry
) -> Iterator[Finding]:
    """Check each model that a source's records are searched with."""
    users: dict[int, list[str]] = {}
    found: dict[int, Embedder] = {}
    for source in registry.sources:
        embedder = embedders.of(source)
        found[id(embedder)] = embedder
        users.setdefault(id(embedder), []).append(source)
    if not found:
        yield fine(_MODELS, "no source that is on uses a model")
    chosen_by = config.origin("embedding.model").layer
    for key, embedder in found.items():
        yield _tried(embedder, ", ".join(users[key]), chosen_by)


def _tried(embedder: Embedder, users: str, chosen_by: str) -> Finding:
    if isinstance(embedder, KeywordsOnly):
        return fine(_MODELS, f"keywords only, as configured: {users}")
    try:
        vector = embedder.query(_TEXT)
    except ConfigError as error:
        return problem(
            _MODELS, f"{error}: {users}", "install and turn on the plugin that provides it"
        )
    if vector is None:
        what = embedder.problem or "the model returns no vector"
        remedy = 'repair the model, or set embedding.model = "none"'
        make = warning if chosen_by == "default" else problem
        return make(_MODELS, f"{what}: {users}", remedy)
    return fine(_MODELS, f"{embedder.name}, {len(vector)} dimensions: {users}")


_SECRETS = "secrets"
_BATCH = 256
_REWRITTEN = "run `contextkit reembed`, which removes them"


def secret_findings(registry: SourceRegistry, store: RecordStore | None) -> Iterator[Finding]:
    """Report the redaction setting, and any secrets that are left.

    Sources that index the workspace write their records anew, so only the other sources are
    searched.

    Args:
        registry: the plugins, and the setting.
        store: the store, or None where there is none.
    """
    redactor = Redactor(registry)
    if not redactor.enabled:
        yield warning(_SECRETS, "secrets are not replaced", "set redact.enabled = true")
    elif store is None:
        yield fine(_SECRETS, "secrets are replaced before storing")
    else:
        replaced = store.count(None, None, {}) - store.count(None, None, {REDACTIONS: None})
        kept = store.count(None, None, {KEEP_SECRET: True})
        told = f", {kept:,} keep theirs, as the user wants" if kept else ""
        yield fine(_SECRETS, f"{replaced:,} records have replaced secrets{told}")
        for source in registry.sources:
            if not registry.implements(source, "contextkit_index"):
                yield from _left(redactor, store, source)


def _left(redactor: Redactor, store: RecordStore, source: str) -> Iterator[Finding]:
    found: list[int] = []
    counting = redactor.telling(found.append)
    # A deep examination reports which records are damaged.
    with contextlib.suppress(RecordDamagedError):
        for batch in in_batches(store.scan(source, None, {}), _BATCH):
            counting.records(batch)
    if found:
        text = f"{source}: {sum(found):,} secrets in records stored by an earlier version"
        yield warning(_SECRETS, text, _REWRITTEN)
