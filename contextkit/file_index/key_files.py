"""Files that hold keys and passwords by their names: no source indexes them, whatever is set."""

from __future__ import annotations

import re

__all__ = ["KEY_FILE_REASON", "is_key_file"]

KEY_FILE_REASON = "it may hold secrets"
"""What an index report says of a key file."""

_WORDS = frozenset({"credential", "credentials", "secret", "secrets"})
_NAMES = _WORDS | {
    *(".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".htpasswd", ".pgpass"),
    *(".boto", ".dockercfg", ".git-credentials", ".my.cnf", ".s3cfg", ".vault-token"),
}
_ENDINGS = frozenset(
    {"env", "jks", "kdbx", "key", "keystore", "p12", "p8", "pem", "pfx", "pkcs12", "ppk"}
)
_TEMPLATES = frozenset({"dist", "example", "sample", "template"})
_PRIVATE_KEY = re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?![a-z0-9])")
# A program may be called `credentials.py`: its text is code, and is indexed.
_DATA = frozenset(
    {
        *("adoc", "bak", "cfg", "conf", "csv", "dat", "db", "enc", "gpg", "ini", "json", "json5"),
        *("jsonc", "log", "markdown", "md", "mdx", "old", "org", "plist", "properties", "rst"),
        *("sqlite", "sqlite3", "toml", "tsv", "txt", "xml", "yaml", "yml"),
    }
)
_SEPARATOR = re.compile(r"[-_.]")
_PLACES = ("/.docker/config.json", "/.kube/config")
_FOLDERS = ("/.ssh/", "/.gnupg/")


def is_key_file(path: str) -> bool:
    """Whether a file holds keys, passwords or tokens, by its name and its folder.

    Args:
        path: its path, with `/`.
    """
    whole = path.lower()
    name = whole[whole.rfind("/") + 1 :]
    stem, _, ending = name.rpartition(".")
    if name in _NAMES:
        return True
    if ending in _ENDINGS:
        # `example.env` names the variables and has no values.
        return ending != "env" or stem.strip(".") not in _TEMPLATES
    if name[:5] == ".env.":
        return ending not in _TEMPLATES
    if name[:3] == "id_":
        return ending != "pub" and _PRIVATE_KEY.match(name) is not None
    if ending in _DATA and not _WORDS.isdisjoint(_SEPARATOR.split(stem)):
        return True
    # Few paths have a hidden folder.
    return (whole[:1] == "." or "/." in whole) and _is_in_place(f"/{whole}")


def _is_in_place(path: str) -> bool:
    return path.endswith(_PLACES) or any(folder in path for folder in _FOLDERS)
