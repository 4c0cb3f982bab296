"""The ways in which a repository can name a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from contextkit.testing import Git

STATUS = ("status",)
DIFF = ("diff",)
LOG = ("log", "-p", "--ext-diff")


@frozen
class Strange:
    """A repository of a stranger, with a changed file and one that is not tracked.

    Attributes:
        git: git, in its work tree.
        program: a program that writes to `canary`.
        canary: whether it ran.
    """

    git: Git
    program: Path
    canary: Path

    @property
    def folder(self) -> Path:
        """The work tree."""
        return self.git.folder

    def configure(self, text: str, file: str = ".git/config") -> None:
        """Add settings; PROGRAM stands for the program."""
        with (self.folder / file).open("a") as opened:
            opened.write(f"\n{text.replace('PROGRAM', str(self.program))}\n")

    def write(self, name: str, text: str) -> None:
        """Write a file of the work tree."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def partial(self, url: str, *settings: str) -> None:
        """Make git believe that a server has what is missing, and take a file's content away."""
        blob = self.git("rev-parse", "HEAD:a.py").strip()
        (self.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
        self.git("config", "core.repositoryFormatVersion", "1")
        self.git("config", "extensions.partialClone", "origin")
        self.git("config", "remote.origin.url", url)
        self.git("config", "remote.origin.promisor", "true")
        for allowed in ("", "ext.", "file.", "git.", "ssh."):
            self.git("config", f"protocol.{allowed}allow", "always")
        for setting in settings:
            self.configure(setting)


def program_of(strange: Strange, name: str) -> Path:
    """The program under a name of its own."""
    path = strange.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(strange.program.read_bytes())
    path.chmod(0o755)
    return path


# -- the ways -------------------------------------------------------------------------------


def filtered(settings: str, name: str = "x") -> Callable[[Strange], None]:
    """A filter driver that the attributes of the tree give to every Python file."""

    def way(strange: Strange) -> None:
        strange.write(".gitattributes", f"*.py filter={name}\n")
        strange.configure(settings)

    return way


def filter_in_info(strange: Strange) -> None:
    """The attributes are in the repository, not in the tree."""
    strange.write(".git/info/attributes", "*.py filter=x\n")
    strange.configure('[filter "x"]\nclean = PROGRAM')


def filter_in_an_included_file(strange: Strange) -> None:
    """The driver is in a file of the tree, which the settings include."""
    filtered("[include]\npath = ../settings")(strange)
    strange.configure('[filter "x"]\nclean = PROGRAM', "settings")


def filter_in_a_file_included_for_a_branch(strange: Strange) -> None:
    """The same, under a condition."""
    filtered('[includeIf "onbranch:main"]\npath = ../settings')(strange)
    strange.configure('[filter "x"]\nclean = PROGRAM', "settings")


def filter_of_a_work_tree(strange: Strange) -> None:
    """The driver is in `config.worktree`."""
    filtered("[extensions]\nworktreeConfig = true")(strange)
    strange.configure('[filter "x"]\nclean = PROGRAM', ".git/config.worktree")


def with_submodule(strange: Strange) -> Git:
    """Commit a repository in the folder `inner`, and return its git."""
    inner = Git(strange.folder / "inner")
    strange.write("inner/b.py", "b = 1\n")
    inner("init", "-q")
    inner("add", ".")
    inner("commit", "-qm", "b")
    strange.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
    strange.git("commit", "-qm", "inner")
    return inner


def filter_of_a_submodule(strange: Strange) -> None:
    """Git looks into a submodule with a process of its own."""
    with_submodule(strange)
    strange.write("inner/.gitattributes", "*.py filter=x\n")
    strange.configure('[filter "x"]\nclean = PROGRAM', "inner/.git/config")
    strange.write("inner/b.py", "b = 2\n")
    strange.configure("[submodule]\nrecurse = true\n[status]\nsubmoduleSummary = true")


def diff_of_a_submodule(strange: Strange) -> None:
    """The settings have git show a submodule's changes, by a process of its own."""
    inner = with_submodule(strange)
    strange.write("inner/b.py", "b = 2\n")
    inner("commit", "-qam", "b2")
    strange.git("add", "inner")
    strange.git("commit", "-qm", "inner again")
    strange.configure("[diff]\nsubmodule = diff")
    strange.configure("[diff]\nexternal = PROGRAM", "inner/.git/config")


def nested_repository(strange: Strange) -> None:
    """An untracked repository in the tree, whose files are listed too."""
    strange.write("inner/b.py", "b = 1\n")
    Git(strange.folder / "inner")("init", "-q")
    strange.configure("[core]\nfsmonitor = PROGRAM", "inner/.git/config")


def repository_elsewhere_in_the_tree(strange: Strange) -> None:
    """`.git` is a file that names a folder of the tree."""
    (strange.folder / ".git").rename(strange.folder / "moved")
    strange.write(".git", "gitdir: moved\n")
    strange.write(".gitattributes", "*.py filter=x\n")
    strange.configure('[filter "x"]\nclean = PROGRAM', "moved/config")


def hooks(strange: Strange) -> None:
    """Every hook that git has."""
    names = "post-index-change pre-auto-gc reference-transaction post-checkout fsmonitor-watchman"
    for name in names.split():
        program_of(strange, f".git/hooks/{name}")


def hooks_in_the_tree(strange: Strange) -> None:
    """The settings name a folder of the tree."""
    program_of(strange, "tools/post-index-change")
    strange.configure("[core]\nhooksPath = tools")


def diff_driver(settings: str) -> Callable[[Strange], None]:
    """A diff driver that the attributes of the tree give to every Python file."""

    def way(strange: Strange) -> None:
        strange.write(".gitattributes", "*.py diff=x merge=x\n")
        strange.configure(settings)

    return way


def signed(settings: str) -> Callable[[Strange], None]:
    """The history has a signature, and a program that would check it."""

    def way(strange: Strange) -> None:
        tree = strange.git("rev-parse", "HEAD^{tree}").strip()
        who = "Ada <ada@example.org> 1700000000 +0000"
        kind = "SSH" if "ssh" in settings else "PGP"
        commit = (
            f"tree {tree}\nauthor {who}\ncommitter {who}\n"
            f"gpgsig -----BEGIN {kind} SIGNATURE-----\n \n x\n -----END {kind} SIGNATURE-----\n"
            "\nBegin the tide\n"
        )
        strange.write(".git/commit", commit)
        sha = strange.git("hash-object", "-t", "commit", "-w", ".git/commit").strip()
        strange.git("update-ref", "HEAD", sha)
        strange.configure(f"[log]\nshowSignature = true\n{settings}")

    return way


def ssh(strange: Strange) -> None:
    """What is missing would be fetched with the program."""
    strange.partial("ssh://example.invalid/x", "[core]\nsshCommand = PROGRAM")


def ssh_by_variant(strange: Strange) -> None:
    """The same by the short form of an address."""
    strange.partial("x@example.invalid:x", "[core]\nsshCommand = PROGRAM\n[ssh]\nvariant = simple")


def ext(strange: Strange) -> None:
    """A transport that is a program."""
    strange.partial(f"ext::{strange.program}")


def rewritten_to_ext(strange: Strange) -> None:
    """A harmless address that the settings rewrite."""
    strange.partial("https://example.invalid/x", '[url "ext::PROGRAM "]\ninsteadOf = https://')


def upload_pack(strange: Strange) -> None:
    """A repository on this machine, and the program that reads it."""
    strange.partial(str(strange.folder), '[remote "origin"]\nuploadpack = PROGRAM')


def git_proxy(strange: Strange) -> None:
    """A program through which git:// is spoken."""
    strange.partial("git://example.invalid/x", "[core]\ngitProxy = PROGRAM")


def remote_helper(strange: Strange) -> None:
    """A remote of another version control system."""
    strange.partial("x", '[remote "origin"]\nvcs = ext')


def program_called_git(strange: Strange) -> None:
    """A git in the work tree, for those with the current folder on the PATH."""
    program_of(strange, "git")


WAYS: dict[str, tuple[Callable[[Strange], None], Sequence[str] | None]] = {
    "filter clean": (filtered('[filter "x"]\nclean = PROGRAM'), STATUS),
    "filter process": (filtered('[filter "x"]\nprocess = PROGRAM'), STATUS),
    "filter required": (filtered('[filter "x"]\nclean = PROGRAM\nrequired'), STATUS),
    "filter clean and process": (
        filtered('[filter "x"]\nclean = PROGRAM\nprocess = PROGRAM\nrequired'),
        STATUS,
    ),
    "filter smudge": (filtered('[filter "x"]\nsmudge = PROGRAM'), None),
    "filter with an = in its name": (filtered('[filter "a=b"]\nclean = PROGRAM', "a=b"), STATUS),
    "filter with dots in its name": (
        filtered('[FILTER "A.b.C"]\nclean = PROGRAM', "A.b.C"),
        STATUS,
    ),
    "filter with a key in its name": (
        filtered('[filter "clean.process"]\nclean = PROGRAM', "clean.process"),
        STATUS,
    ),
    "filter with a name of other letters": (filtered('[filter "ü"]\nclean = PROGRAM', "ü"), STATUS),
    "filter in info/attributes": (filter_in_info, STATUS),
    "filter in an included file": (filter_in_an_included_file, STATUS),
    "filter in a file for a branch": (filter_in_a_file_included_for_a_branch, STATUS),
    "filter in config.worktree": (filter_of_a_work_tree, STATUS),
    "filter of a submodule": (filter_of_a_submodule, STATUS),
    "diff of a submodule": (diff_of_a_submodule, ("show", "HEAD")),
    "repository elsewhere in the tree": (repository_elsewhere_in_the_tree, STATUS),
    "nested repository": (nested_repository, ("-C", "inner", "status")),
    "core.fsmonitor": (lambda s: s.configure("[core]\nfsmonitor = PROGRAM"), STATUS),
    "hooks": (hooks, STATUS),
    "core.hooksPath": (hooks_in_the_tree, STATUS),
    "core.pager": (lambda s: s.configure("[core]\npager = PROGRAM"), None),
    "pager of a command": (
        lambda s: s.configure("[pager]\nstatus = PROGRAM\nlog = PROGRAM\nconfig = PROGRAM"),
        None,
    ),
    "core.editor": (lambda s: s.configure("[core]\neditor = PROGRAM"), None),
    "alias": (
        lambda s: s.configure("[alias]\nstatus = !PROGRAM\nlog = !PROGRAM\nother = !PROGRAM"),
        ("other",),
    ),
    "diff.external": (lambda s: s.configure("[diff]\nexternal = PROGRAM"), DIFF),
    "diff driver's command": (diff_driver('[diff "x"]\ncommand = PROGRAM'), DIFF),
    "diff driver's textconv": (diff_driver('[diff "x"]\ntextconv = PROGRAM'), DIFF),
    "merge driver": (diff_driver('[merge "x"]\ndriver = PROGRAM'), None),
    "gpg.program": (signed("[gpg]\nprogram = PROGRAM"), ("log",)),
    "gpg.ssh.program": (
        signed('[gpg "ssh"]\nprogram = PROGRAM\nallowedSignersFile = a.py'),
        ("log",),
    ),
    "core.sshCommand": (ssh, LOG),
    "core.sshCommand and ssh.variant": (ssh_by_variant, LOG),
    "ext:: remote": (ext, LOG),
    "url.insteadOf": (rewritten_to_ext, LOG),
    "remote.uploadpack": (upload_pack, LOG),
    "core.gitProxy": (git_proxy, LOG),
    "remote.vcs": (remote_helper, None),
    "credential.helper": (
        lambda s: s.partial(
            "https://127.0.0.1:1/x",
            "[credential]\nhelper = !PROGRAM\n[core]\naskPass = PROGRAM",
        ),
        None,
    ),
    "core.alternateRefsCommand": (
        lambda s: s.configure("[core]\nalternateRefsCommand = PROGRAM"),
        None,
    ),
    "uploadpack.packObjectsHook": (
        lambda s: s.configure("[uploadpack]\npackObjectsHook = PROGRAM"),
        None,
    ),
    "trace2.eventTarget": (
        lambda s: s.configure(f"[trace2]\neventTarget = {s.canary}\nnormalTarget = {s.canary}"),
        None,
    ),
    "program called git": (program_called_git, None),
}
"""Name -> how it is set up, and the command with which plain git runs the program, if any."""
