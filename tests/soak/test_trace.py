"""The reader of traces sees what must not be there."""

from pathlib import Path

import pytest

from tests.soak.trace import find_strangers

WORKSPACE = Path("/tmp/x/workspace")


@pytest.mark.parametrize(
    "line",
    [
        '12 openat(AT_FDCWD</tmp/x/workspace>, "numpy.py", O_RDONLY) = 3',
        '12 openat(AT_FDCWD</>, "/tmp/x/workspace/other.py", O_RDONLY) = 3',
        '12 connect(7<socket:[1]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.1")}, 16) = 0',
        '12 connect(7, {sa_family=AF_INET6, inet_pton(AF_INET6, "2001:db8::1", &sin6_addr)}, 28) = 0',
    ],
)
def test_a_stranger_is_seen(tmp_path: Path, line: str) -> None:
    (tmp_path / "trace").write_text(line + "\n")
    assert find_strangers(tmp_path / "trace", WORKSPACE) == [line]


@pytest.mark.parametrize(
    "line",
    [
        '12 openat(AT_FDCWD</tmp/x/workspace>, "/usr/lib/python3/os.py", O_RDONLY|O_CLOEXEC) = 3',
        '12 connect(7, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
        '12 bind(7, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
    ],
)
def test_our_own_files_and_loopback_are_no_strangers(tmp_path: Path, line: str) -> None:
    (tmp_path / "trace").write_text(line + "\n")
    assert find_strangers(tmp_path / "trace", WORKSPACE) == []
