"""A wheel of the installed package, for machines that cannot get it from an index."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
VERSION = re.findall(r'^__version__ = "(.+)"$', (PACKAGE / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)[0]
NAME = f"micrograd_plus-{VERSION}"
FILE_NAME = f"{NAME}-py3-none-any.whl"
OLDEST_PYTHON = (3, 11)
METADATA = f"""Metadata-Version: 2.1
Name: micrograd_plus
Version: {VERSION}
Requires-Python: >={OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]}
Requires-Dist: numpy>=2.0
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: micrograd_plus\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
COMMANDS = "[console_scripts]\nmicrograd-plus = micrograd_plus.__main__:main\n"


def build_wheel() -> bytes:
    """Return the wheel, made from the files of the package that is running. Equal files give equal bytes."""
    files = {path.relative_to(PACKAGE.parent).as_posix(): path.read_bytes() for path in sorted(PACKAGE.rglob("*"))
             if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip
    folder = f"{NAME}.dist-info"
    files |= {f"{folder}/METADATA": METADATA.encode(), f"{folder}/WHEEL": WHEEL.encode(),
              f"{folder}/entry_points.txt": COMMANDS.encode()}  # fmt: skip
    lines = [f"{name},sha256={urlsafe_hash(data)},{len(data)}" for name, data in files.items()]
    files[f"{folder}/RECORD"] = "\n".join([*lines, f"{folder}/RECORD,,", ""]).encode()
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    return output.getvalue()


def urlsafe_hash(data: bytes) -> str:
    """Return a hash as wheels write it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
