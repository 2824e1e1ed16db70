"""The files that are never read, recorded or sent. The user's globs add to the defaults."""

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from model.secret_text import has_secret
from model.silence import Silence

LIMIT_CHARACTERS = 1_000_000  # a file as long as this is data, not something a person edits by hand
LIMIT_LINE = 20_000  # each key tokenizes its line again, and a longer one is not written by hand

# A glob without a slash is about the name of a file or of a folder that holds it; one with a slash about the end of a path.
_SECRETS = [
    # settings of programs, with passwords in them
    *(
        ".env*",
        "*.env",
        "*.env.*",
        "env.local",
        ".flaskenv",
        ".dev.vars*",
        ".prod.vars*",
        "*.tfvars",
        "*.tfvars.json",
    ),
    *(
        "*.tfstate",
        "*.tfstate.*",
        ".terraformrc",
        "terraform.rc",
        ".pulumi",
        "connectionstrings.config",
        "*.publishsettings",
    ),
    *("wp-config.php", "localsettings.php", "*.rdp", "*.nmconnection", "wpa_supplicant.conf", "*.har"),
    # keys and certificates
    *(
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
        "*.pkcs12",
        "*.pfx",
    ),
    *(
        "*.jks",
        "*.jceks",
        "*.bcfks",
        "*.keystore",
        "*.pgp",
        "*.gpg",
        "*.asc",
        "*.ppk",
        "*.kdb",
        "*.kdbx",
        "*.age",
    ),
    *(
        "*.ovpn",
        "*.mobileprovision",
        "*.keytab",
        "*.priv",
        "*.privkey",
        "*.psk",
        "wg*.conf",
        "*.jwk",
        "*.jwt",
    ),
    *(
        "*.keychain",
        "*.keychain-db",
        "*.agilekeychain",
        "*.opvault",
        "*.1pif",
        "secring.*",
        "wallet.dat",
        "*.wallet",
    ),
    *(
        "id_rsa*",
        "id_dsa*",
        "id_ecdsa*",
        "id_ed25519*",
        "*_{rsa,dsa,ecdsa,ed25519}",
        "ssh_host_*_key",
        "master.key",
    ),
    *("authorized_keys", "known_hosts", ".ssh", ".gnupg"),
    # credentials of tools
    *(
        ".netrc",
        "_netrc",
        ".authinfo*",
        "authinfo*",
        ".pgpass",
        "pgpass.conf",
        ".pg_service.conf",
        ".my.cnf",
        ".mylogin.cnf",
    ),
    *(
        ".npmrc",
        ".yarnrc*",
        ".pypirc",
        ".condarc",
        "pip.conf",
        "nuget.config",
        ".m2/settings*.xml",
        ".gradle/gradle.properties",
    ),
    *(
        "auth.json",
        ".dockercfg",
        ".dockerconfigjson",
        ".docker",
        ".git-credentials",
        ".svn/auth",
        ".subversion/auth",
    ),
    *(
        "{.,}htpasswd*",
        "{.,}htdigest*",
        ".passwd*",
        "etc/{passwd,shadow}*",
        ".vnc",
        ".smbcredentials",
        ".lftprc",
        ".ftpconfig",
    ),
    *(
        "sftp.json",
        "sftp-config.json",
        ".remote-sync.json",
        "filezilla.xml",
        "sitemanager.xml",
        "recentservers.xml",
    ),
    *(
        ".msmtprc",
        ".fetchmailrc",
        ".offlineimaprc",
        ".mbsyncrc",
        ".muttrc",
        ".wgetrc",
        ".curlrc",
        "{.,}rclone.conf",
    ),
    *(
        ".config/gh",
        ".config/hub",
        ".config/glab-cli",
        ".config/doctl",
        ".config/hcloud",
        ".config/rclone",
        ".config/configstore",
    ),
    *(
        ".aws",
        ".azure",
        ".kube",
        "kubeconfig*",
        "*.kubeconfig",
        ".boto",
        ".s3cfg",
        "gcloud",
        ".oci",
        ".aliyun",
        ".bluemix",
    ),
    *(
        ".linode-cli",
        ".databrickscfg",
        ".snowsql",
        ".dbt",
        ".fly",
        ".netlify",
        ".vercel",
        ".wrangler",
        ".cloudflared",
    ),
    *(
        "kaggle.json",
        ".ngrok*",
        "ngrok.yml",
        ".p4tickets",
        ".irssi",
        ".purple",
        "logins.json",
        "key{3,4}.db",
        "cookies.*",
    ),
    # names that say so
    *(
        "credentials",
        "*credential*",
        "*{private,api,access}{_,-,}key*",
        "*{account,gcp,firebase,google}*key*.json",
    ),
    *(
        "*{-,_}key.json",
        "service-account*.json",
        "service_account*.json",
        "*firebase-adminsdk*.json",
        "client_id.json",
    ),
    *(
        "google-services.json",
        "googleservice-info.plist",
        "oauth*.json",
        "adc.json",
        "*secret*",
        "*password*",
        "*.pwd",
    ),
    *(
        ".token",
        ".tokens",
        "*.token",
        ".*token",
        "*_token",
        "huggingface/token",
        "*token*.json",
        "*token*.txt",
        ".vault*",
        "vault*.yml",
        "vault*.yaml",
    ),
    *(".bash_history", ".*_history", ".viminfo", ".lesshst"),
]
# A copy of a secret is a secret: server.pem.bak, .npmrc~, id_rsa.old.
_COPY = re.compile(
    r"(?:[.-](?:bak|backup|back|old|orig|save|saved|copy|tmp|temp|dist|swp|swo|local|prod|\d+)|~)+$",
    re.IGNORECASE,
)
# Source code about secrets is no secret: `reset_password.py` is a file like others, `secret.yaml` is not.
_SOURCES = re.compile(
    r"\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|vue|svelte|java|kt|scala|go|rs|c|cc|cpp|h|hpp|cs|rb|php|swift|lua"
    r"|ex|exs|md|rst|html|css)$",
    re.IGNORECASE,
)
_LOOSE = frozenset(
    {
        "*secret*",
        "*password*",
        "*credential*",
        "*{private,api,access}{_,-,}key*",
        "*.env.*",
        "*_token",
        "cookies.*",
    }
)
_SCHEMES = frozenset({"file", "untitled", "vscode-notebook-cell"})


class Exclusions:
    """The default globs and the user's."""

    def __init__(self, globs: Iterable[str] = ()) -> None:
        self._always = [_compile_glob(glob) for glob in _SECRETS if glob not in _LOOSE]
        self._always += [_compile_glob(glob) for glob in globs if glob]
        self._not_for_sources = [_compile_glob(glob) for glob in _SECRETS if glob in _LOOSE]

    def reason_for(self, uri: str, text: str = "") -> Silence | None:
        """Find the reason for excluding a file; None if there is none."""
        try:
            scheme, paths = urlsplit(uri).scheme, paths_of(uri)
        except ValueError:  # it names no file that there can be: a zero byte, half of an address
            return Silence.EXCLUDED_SCHEME
        if scheme not in _SCHEMES:
            return Silence.EXCLUDED_SCHEME
        if any(map(self.is_secret_path, paths)):
            return Silence.EXCLUDED
        if len(text) > LIMIT_CHARACTERS:
            return Silence.TOO_LARGE
        return Silence.SECRET if has_secret(text) else None

    def is_secret_path(self, path: str) -> bool:
        """Is it the path of a secret, or of a copy of one?"""
        original = _COPY.sub("", path)
        if any(pattern.search(each) for pattern in self._always for each in {path, original}):
            return True
        return not _SOURCES.search(path) and any(pattern.search(path) for pattern in self._not_for_sources)


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
