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


COMMON_SECRETS = [
    ".env",
    ".env.local",
    ".env.production",
    "prod.env",
    "prod.env.local",
    "app.env.bak",
    ".envrc",
    ".flaskenv",
    ".dev.vars",
    ".dev.vars.staging",
    "env.local",
    "server.pem",
    "server.pem.bak",
    "server.key",
    "server.key.old",
    "tls.crt.orig",
    "cert.pfx",
    "store.p12~",
    "app.jks",
    "release.keystore",
    "vpn.ovpn",
    "id_rsa",
    "id_rsa.bak",
    "id_ed25519",
    "deploy_rsa",
    "ssh_host_rsa_key",
    "login.ppk",
    "passwords.kdbx",
    "secring.gpg",
    "wallet.dat",
    "wg0.conf",
    ".ssh/config",
    ".gnupg/pubring.kbx",
    ".netrc",
    "_netrc",
    ".authinfo",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".npmrc",
    ".npmrc.bak",
    ".yarnrc.yml",
    ".pypirc",
    "auth.json",
    ".composer/auth.json",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".config/glab-cli/config.yml",
    ".config/doctl/config.yaml",
    ".config/rclone/rclone.conf",
    "rclone.conf",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    "nuget.config",
    ".docker/config.json",
    ".dockercfg",
    ".dockerconfigjson",
    ".git-credentials",
    ".subversion/auth/svn.simple/x",
    ".aws/credentials",
    ".azure/tokens",
    ".kube/config",
    "kubeconfig",
    "prod.kubeconfig",
    ".boto",
    ".s3cfg",
    ".oci/config",
    ".databrickscfg",
    ".snowsql/config",
    ".dbt/profiles.yml",
    "kaggle.json",
    "serviceAccountKey.json",
    "service-account.json",
    "service_account_prod.json",
    "gcp-key.json",
    "my_key.json",
    "firebase-adminsdk-x1.json",
    "google-services.json",
    "GoogleService-Info.plist",
    "client_secret_1.json",
    "client_id.json",
    "oauth.json",
    "credentials.xml",
    "credentials.toml",
    "secrets.yaml",
    "my-secret.txt",
    "db_password.txt",
    "prod.tfvars",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    ".terraformrc",
    "vault.yml",
    "vault-prod.yaml",
    ".vault-token",
    ".token",
    ".github_token",
    "deploy.token",
    "api_token.txt",
    "token.json",
    "htpasswd",
    ".htpasswd",
    "htpasswd.bak",
    ".passwd-s3fs",
    "wp-config.php",
    "wp-config.php.bak",
    "sftp-config.json",
    "sitemanager.xml",
    ".msmtprc",
    ".fetchmailrc",
    "logins.json",
    "key4.db",
    "cookies.txt",
    "session.har",
    ".bash_history",
    ".psql_history",
    "site.publishsettings",
    "connectionStrings.config",
    "wpa_supplicant.conf",
]


@pytest.mark.parametrize("name", COMMON_SECRETS)
def test_common_names_of_secrets_are_excluded(name: str) -> None:
    assert Exclusions().reason_for(f"file:///home/user/project/{name}") == "excluded"


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
        "/w/src/token/scanner.go",
        "/w/tokens/colors.json",
        "/w/shadow/map.ts",
        "/w/vite-env.d.ts",
        "/w/app.env.ts",
        "/w/cookies.py",
        "/w/monkey.json",
        "/w/settings.xml",
        "/w/auth.py",
        "/w/config.local",
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
    assert Exclusions().reason_for("file:///w/notes", key) == "secret"
    assert Exclusions().reason_for("file:///w/notes", "x\n" * 10_000 + key) == "secret"


def test_percent_signs_and_spaces_are_read_as_they_are_meant() -> None:
    assert Exclusions(["my folder"]).reason_for("file:///w/my%20folder/a.py") == "excluded"


def test_globs() -> None:
    assert matches("**/x/*.py", "/a/b/x/c.py")
    assert not matches("*.py", "/a/b.pyc")
    assert matches("b?", "/a/bc/d")
    assert matches("{broken", "/a/broken")


@pytest.mark.parametrize("uri", ["file:///w/a%00b.py", "untitled:a%00", "file://[/a.py", "file://[::1/a.py"])
def test_a_uri_that_names_no_file_is_left_alone(uri: str) -> None:
    assert Exclusions().reason_for(uri) in ("excluded-scheme", None)
