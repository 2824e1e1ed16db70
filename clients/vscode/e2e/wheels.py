"""Wheels for the libraries that a requirements file names, made of what is installed here: pip then needs no network.

Each holds nothing but the way to the installed library. usage: wheels.py REQUIREMENTS FOLDER
"""

import re
import site
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path


def write_wheel(folder: Path, distribution: str) -> None:
    """A wheel with the name and the version of what is installed, and a line for Python's search path."""
    name, number = re.sub(r"[-_.]+", "_", distribution), version(distribution)
    about = f"{name}-{number}.dist-info"
    files = {
        f"{name}_is_installed_elsewhere.pth": site.getsitepackages()[0],
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {number}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: likewise\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{about}/RECORD"
    files[record] = "".join(f"{path},,\n" for path in [*files, record])
    with zipfile.ZipFile(folder / f"{name}-{number}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)


def main(requirements: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for line in requirements.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"[A-Za-z0-9][\w.-]*", line):
            write_wheel(folder, match[0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
