"""The files that are never read, recorded or sent. The user's globs add to the defaults."""

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from model.silence import Silence

LIMIT_CHARACTERS = 1_000_000  # a file as long as this is data, not something a person edits by hand

# A glob without a slash is about the name of a file or of a folder that holds it.
_SECRETS = [
    ".env*",
    "*.env",
    ".flaskenv",
    "*.tfvars",
    "*.tfvars.json",
    "*.tfstate",
    "*.tfstate.*",
    "*.pem",
    "*.key",
    "*.crt",
    "*.cert",
    "*.cer",
    "*.der",
    "*.csr",
    "*.p7b",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.pgp",
    "*.gpg",
    "*.asc",
    "*.ppk",
    "*.kdb",
    "*.kdbx",
    "*.age",
    "*.ovpn",
    "*.mobileprovision",
    "*.keytab",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "authorized_keys",
    "known_hosts",
    ".ssh",
    ".gnupg",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".yarnrc*",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".aws",
    ".azure",
    ".kube",
    "kubeconfig*",
    ".docker",
    ".dockercfg",
    ".boto",
    ".s3cfg",
    "gcloud",
    ".terraformrc",
    "credentials",
    "*credential*",
    "*{private,api,access}{_,-,}key*",
    "service-account*.json",
    "*secret*",
    "*password*",
    "*token*.json",
    "*token*.txt",
    ".vault*",
    "vault.yml",
    "vault.yaml",
    "master.key",
    ".bash_history",
    ".*_history",
]
# Source code about secrets is no secret: `reset_password.py` is a file like others, `secret.yaml` is not.
_SOURCES = re.compile(
    r"\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|vue|svelte|java|kt|scala|go|rs|c|cc|cpp|h|hpp|cs|rb|php|swift|lua"
    r"|ex|exs|md|rst|html|css)$",
    re.IGNORECASE,
)
_LOOSE = frozenset({"*secret*", "*password*", "*credential*", "*{private,api,access}{_,-,}key*"})
_SCHEMES = frozenset({"file", "untitled", "vscode-notebook-cell"})
_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")


class Exclusions:
    """The default globs and the user's."""

    def __init__(self, globs: Iterable[str] = ()) -> None:
        self._always = [_compile_glob(glob) for glob in _SECRETS if glob not in _LOOSE]
        self._always += [_compile_glob(glob) for glob in globs if glob]
        self._not_for_sources = [_compile_glob(glob) for glob in _SECRETS if glob in _LOOSE]

    def reason_for(self, uri: str, text: str = "") -> Silence | None:
        """Find the reason for excluding a file; None if there is none."""
        if urlsplit(uri).scheme not in _SCHEMES:
            return Silence.EXCLUDED_SCHEME
        if any(map(self.is_secret_path, paths_of(uri))):
            return Silence.EXCLUDED
        if len(text) > LIMIT_CHARACTERS:
            return Silence.TOO_LARGE
        return Silence.EXCLUDED if has_private_key(text) else None

    def is_secret_path(self, path: str) -> bool:
        if any(pattern.search(path) for pattern in self._always):
            return True
        return not _SOURCES.search(path) and any(pattern.search(path) for pattern in self._not_for_sources)


def has_private_key(text: str) -> bool:
    return _PRIVATE_KEY.search(text) is not None


def paths_of(uri: str) -> set[str]:
    """The path that a URI names, and the path that it links to if it is a link; with forward slashes."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return {unquote(parts.path)}
    path = url2pathname(parts.path)
    return {each.replace(os.sep, "/") for each in (path, os.path.realpath(path))}


def matches(glob: str, path: str) -> bool:
    return _compile_glob(glob).search(path) is not None


@lru_cache(maxsize=512)
def _compile_glob(glob: str) -> re.Pattern[str]:
    """Compile a glob to a pattern to search in a path. It matches whole names of folders and files."""
    glob = glob.replace("\\", "/")
    anchor = "^" if glob.startswith("/") else "(?:^|/)"
    return re.compile(anchor + _translate_glob(glob.rstrip("/")) + "(?:/|$)", re.IGNORECASE | re.DOTALL)


def _translate_glob(glob: str) -> str:
    result, index, braces = "", 0, 0
    while index < len(glob):
        character = glob[index]
        if glob.startswith("**/", index):
            result, index = result + "(?:[^/]+/)*", index + 3
            continue
        if glob.startswith("**", index):
            result, index = result + ".*", index + 2
            continue
        if character == "{":
            result, braces = result + "(?:", braces + 1
        elif character == "}" and braces:
            result, braces = result + ")", braces - 1
        elif character == "," and braces:
            result += "|"
        else:
            result += {"*": "[^/]*", "?": "[^/]"}.get(character, re.escape(character))
        index += 1
    return result + ")" * braces
