"""Keys, tokens and passwords in a text: the formats that their issuers document.

A table of our own. The maintained rule sets (detect-secrets, gitleaks) match a token when it is complete, scan file by file,
and detect-secrets brings code that sends what it finds to the issuer. Here a token counts when about half of it is there,
because a user types it key by key, and a line is checked at each key. So each rule has a plain word that nearly no line has,
and every repetition in a pattern has a limit: no text makes the search slow.
"""

import re
from typing import NamedTuple

_WORD = "[A-Za-z0-9_-]"


class _Rule(NamedTuple):
    """A pattern, and a word in lower case without which it cannot match."""

    hint: str
    pattern: re.Pattern[str]


def _rule(hint: str, pattern: str) -> _Rule:
    return _Rule(hint, re.compile(pattern))


_RULES = (
    # private keys
    _rule("private key", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY"),
    _rule("putty-user-key", r"PuTTY-User-Key-File-\d"),
    _rule("age-secret-key", r"AGE-SECRET-KEY-1[A-Z0-9]{10}"),
    # clouds
    _rule("akia", r"\bAKIA[A-Z0-9]{12}"),
    _rule("asia", r"\bASIA(?=[A-Z]{0,16}[2-7])[A-Z2-7]{16}\b"),
    _rule("secret", r"(?i)aws.{0,20}secret.{0,20}[\"'=:\s][A-Za-z0-9/+]{40}\b"),
    _rule("aiza", rf"\bAIza{_WORD}{{20}}"),
    _rule("ya29.", rf"\bya29\.{_WORD}{{20}}"),
    _rule("gocspx-", rf"\bGOCSPX-{_WORD}{{14}}"),
    _rule("accountkey=", r"(?i)\bAccountKey=[A-Za-z0-9+/=]{20}"),
    _rule("sharedaccesskey=", r"(?i)\bSharedAccessKey=[A-Za-z0-9+/=]{20}"),
    _rule("_v1_", r"\bdo[opr]_v1_[a-f0-9]{20}"),
    _rule("dapi", r"\bdapi[0-9a-f]{20}"),
    _rule("hvs.", rf"\bhvs\.{_WORD}{{20}}"),
    # places of code and packages
    _rule("gh", r"\bgh[pousr]_[A-Za-z0-9]{16}"),
    _rule("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{20}"),
    _rule("gl", rf"\bgl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-{_WORD}{{16}}"),
    _rule("npm_", r"\bnpm_[A-Za-z0-9]{20}"),
    _rule("_authtoken", r"(?i):_authToken\s{0,5}=\s{0,5}[A-Za-z0-9-]{16}"),
    _rule("pypi-ag", rf"\bpypi-Ag{_WORD}{{20}}"),
    _rule("hf_", r"\bhf_[A-Za-z0-9]{20}"),
    _rule("atatt3", rf"\bATATT3{_WORD}{{20}}"),
    # services
    _rule("xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10}"),
    _rule("xapp-", r"\bxapp-\d-[A-Za-z0-9-]{10}"),
    _rule("hooks.slack.com", r"hooks\.slack\.com/services/T\w{4,20}/B\w{4,20}/\w{8}"),
    _rule("k_live_", r"\b[prs]k_live_[A-Za-z0-9]{12}"),
    _rule("k_test_", r"\b[rs]k_test_[A-Za-z0-9]{12}"),
    _rule("whsec_", r"\bwhsec_[A-Za-z0-9+/]{16}"),
    _rule("sk-", rf"\bsk-(?:[A-Za-z0-9]{{20}}|(?:proj|ant|svcacct|admin|or)-{_WORD}{{16}})"),
    _rule("sg.", rf"\bSG\.{_WORD}{{16,32}}\.{_WORD}{{10}}"),
    _rule("sq0", rf"\bsq0(?:atp|csp)-{_WORD}{{12}}"),
    _rule("shp", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{16}"),
    _rule("glsa_", r"\bglsa_[A-Za-z0-9]{16}"),
    _rule("lin_api_", r"\blin_api_[A-Za-z0-9]{16}"),
    _rule("ntn_", r"\bntn_[A-Za-z0-9]{20}"),
    _rule("key-", r"\bkey-[0-9a-f]{32}\b"),
    _rule(":aa", rf"\b\d{{8,10}}:AA{_WORD}{{30}}"),
    _rule("eyj", rf"\beyJ{_WORD}{{10,400}}\.eyJ{_WORD}{{6}}"),
    # passwords: in an address, in a connection string, in an assignment, in a header
    _rule(
        "://",
        r"://[^\s:/@\"'<>{}$%*]{0,64}:(?!(?:pass(?:word|wd)?|pwd|secret|\d{1,5})[@/])[^\s/@\"'<>{}$%*]{3,128}@[\w\[]",
    ),
    _rule("password=", r"(?i)[;?&]\s{0,5}password=(?!(?:password|secret)\b)[^;&\s\"'<>{}$%*]{4}"),
    _rule("pwd=", r"(?i)[;?&]\s{0,5}pwd=(?!(?:password|secret)\b)[^;&\s\"'<>{}$%*]{4}"),
    *(
        _rule(
            word,
            rf"(?i){word.replace('_', '[_-]?')}[\"']?\s{{0,5}}[:=]\s{{0,5}}[\"'](?=[^\"'\d]{{0,99}}\d)(?=[^\"'a-z]{{0,99}}[a-z])"
            r"[A-Za-z0-9+/_=-]{20}",
        )
        for word in ("password", "passwd", "secret", "apikey", "api_key", "api-key", "authtoken", "auth_token")
    ),
    *(
        _rule(f"{word} ", rf"(?i)authorization.{{1,20}}\b{word} +[A-Za-z0-9+/_=.-]{{20}}")
        for word in ("bearer", "basic")
    ),
)  # fmt: skip


def has_secret(text: str) -> bool:
    """Tell whether a text holds a key, a token or a password, or most of one."""
    lower = text.lower()
    return any(hint in lower and pattern.search(text) is not None for hint, pattern in _RULES)
