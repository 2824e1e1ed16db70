"""Secrets in the formats that their issuers document. All of these are made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.secret_text import has_secret

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
CAPITALS = BODY.upper().replace("0", "7").replace("1", "6").replace("8", "5").replace("9", "4")
HEX = "0123456789abcdef" * 3
# Spelled in two parts, so that this file is not taken for one with secrets.
SECRETS = {
    "private key": "-----BEGIN RSA PRIVATE" + " KEY-----",
    "private key of OpenSSH": "-----BEGIN OPENSSH PRIVATE" + " KEY-----",
    "private key without a kind": "-----BEGIN PRIVATE" + " KEY-----",
    "private key of PGP": "-----BEGIN PGP PRIVATE" + " KEY BLOCK-----",
    "aws key": "AKIA" + CAPITALS[:16],
    "aws session": "ASIA" + CAPITALS[:16],
    "aws secret": "aws_secret_access_key = " + BODY,
    "google": "AIza" + BODY[:35],
    "azure": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey" + "=" + BODY + BODY + "abcdef==",
    "github": "ghp_" + BODY[:36],
    "github fine-grained": "github_pat_" + BODY,
    "gitlab": "glpat-" + BODY[:20],
    "npm": "npm_" + BODY[:36],
    "npmrc": "//registry.example/:_authToken" + "=" + BODY,
    "pypi": "pypi-AgEI" + BODY,
    "hugging face": "hf_" + BODY[:34],
    "slack": "xoxb-" + "123456789012-123456789012-" + BODY[:24],
    "slack hook": "https://hooks.slack.com/services/" + "T00000000/B00000000/" + BODY[:24],
    "stripe": "sk_live_" + BODY[:24],
    "openai": "sk-proj-" + BODY,
    "sendgrid": "SG." + BODY[:22] + "." + BODY + "abc",
    "digital ocean": "dop_v1_" + HEX,
    "telegram": "123456789:" + "AA" + BODY[:33],
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + BODY,
    "database": "postgres://admin:" + "hunter2@db.example:5432/shop",
    "redis": "redis://:" + "hunter2@localhost/0",
    "jdbc": "jdbc:sqlserver://db;user=sa;password" + "=hunter2;",
    "assignment": "api_key = '" + "x1" * 12 + "'",
    "json": '{"client_secret": "' + "x1" * 12 + '"}',
    "header": "Authorization: Bearer " + BODY,
}  # fmt: skip
ORDINARY = """
password = get_password(user)
secret = 'short'
PASSWORD = "${DATABASE_PASSWORD}"
url = "postgres://user:password@localhost/db"
url = f"postgres://{user}:{password}@{host}/db"
git clone ssh://git@example.com:22/x.git
http://localhost:8377/docs@latest
region = "ASIAPACIFICSOUTHEAST"
Authorization: Bearer <token>
headers["Authorization"] = f"Bearer {token}"
token = "correct horse battery staple and more words"
class sk-toggleable__content fitted
-----BEGIN CERTIFICATE-----
if "PRIVATE KEY" in text:
""".strip().splitlines()


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_found_wherever_it_stands(secret: str) -> None:
    assert has_secret(secret)
    assert has_secret(f'line = 1\n    value = x("{secret}")  # here\nline = 2\n')


@pytest.mark.parametrize("line", ORDINARY)
def test_ordinary_lines_have_no_secret(line: str) -> None:
    assert not has_secret(line)


@pytest.mark.parametrize("name", ["aws key", "github", "gitlab", "npm", "slack", "openai", "google"])
def test_most_of_a_token_counts_as_the_token(name: str) -> None:
    assert has_secret(SECRETS[name][:-4])


@given(st.text(), st.sampled_from(sorted(SECRETS)), st.text())
def test_no_neighbouring_line_hides_a_secret(before: str, name: str, after: str) -> None:
    assert has_secret(f"{before}\n{SECRETS[name]}\n{after}")
