from pathlib import Path

import pytest

from lsp.exclusions import LIMIT_CHARACTERS, Exclusions, matches


@pytest.mark.parametrize(
    "path",
    [
        *("/w/.env", "/w/.env.production", "/w/prod.env", "/w/.ENV", "/w/.envrc", "/w/a/.env/x.py"),
        *("/w/.env-prod", "/w/.env_local", "/w/.env2", "/w/.envs/prod", "/w/server.cert"),
        *("/w/db-credentials.yml", "/w/aws_credentials.ini", "/w/my.credentials", "/w/credentials-prod.yaml"),
        *("/w/private_key.txt", "/w/api_keys.yaml", "/w/apikey", "/w/access-key.csv"),
        *(
            "/h/.ssh/config",
            "/h/.aws/credentials",
            "/w/id_rsa",
            "/w/id_ed25519.pub",
            "/w/server.key",
            "/w/tls.pem",
        ),
        *(
            "/w/cert.crt",
            "/w/store.p12",
            "/w/app.keystore",
            "/h/.netrc",
            "/h/.npmrc",
            "/h/.pypirc",
            "/w/secrets.yaml",
        ),
        *("/w/credentials.json", "/w/client-credentials-2.json", "/w/config/master.key", "/w/prod.tfvars"),
        *(
            "/w/api_token.txt",
            "/h/.git-credentials",
            "/h/.kube/config",
            "/w/passwords.txt",
            "/h/.bash_history",
        ),
    ],
)
def test_secrets_are_excluded(path: str) -> None:
    assert Exclusions().reason_for("file://" + path) == "excluded"


@pytest.mark.parametrize(
    "path",
    [
        "/w/env.py",
        "/w/environment.ts",
        "/w/reset_password.py",
        "/w/secrets.go",
        "/w/keys.py",
        "/w/api_keys.py",
        "/w/credentials.go",
        "/w/token.c",
        "/w/README.md",
    ],
)
def test_source_code_about_secrets_is_not(path: str) -> None:
    assert Exclusions().reason_for("file://" + path) is None


def test_the_users_globs_add_to_the_list() -> None:
    exclusions = Exclusions(["vendor/**", "*.gen.{go,py}", "/abs/x"])
    assert exclusions.reason_for("file:///w/vendor/a/b.py") == "excluded"
    assert exclusions.reason_for("file:///w/a.gen.go") == "excluded"
    assert exclusions.reason_for("file:///abs/x/y.py") == "excluded"
    assert exclusions.reason_for("file:///w/abs/x/y.py") is None
    assert exclusions.reason_for("file:///w/.env") == "excluded"
    assert exclusions.reason_for("file:///w/a.go") is None


def test_a_link_to_a_secret_is_a_secret(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("x")
    (tmp_path / "innocent.txt").symlink_to(tmp_path / ".env")
    assert Exclusions().reason_for((tmp_path / "innocent.txt").as_uri()) == "excluded"


def test_large_files_other_schemes_and_private_keys_are_left_alone() -> None:
    assert Exclusions().reason_for("file:///w/a.py", "x" * (LIMIT_CHARACTERS + 1)) == "too-large"
    assert Exclusions().reason_for("output:log", "") == "excluded-scheme"
    assert Exclusions().reason_for("untitled:Untitled-1", "") is None
    key = "-----BEGIN RSA PRIVATE KEY-----\n"
    assert Exclusions().reason_for("file:///w/notes", key) == "excluded"
    assert Exclusions().reason_for("file:///w/notes", "x\n" * 10_000 + key) == "excluded"


def test_percent_signs_and_spaces_are_read_as_they_are_meant() -> None:
    assert Exclusions(["my folder"]).reason_for("file:///w/my%20folder/a.py") == "excluded"


def test_globs() -> None:
    assert matches("**/x/*.py", "/a/b/x/c.py")
    assert not matches("*.py", "/a/b.pyc")
    assert matches("b?", "/a/bc/d")
    assert matches("{broken", "/a/broken")
