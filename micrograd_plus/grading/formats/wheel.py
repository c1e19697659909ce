"""A wheel of the installed package, for machines that cannot get it from an index."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from pathlib import Path

import micrograd_plus

NAME = f"micrograd_plus-{micrograd_plus.__version__}"
FILE_NAME = f"{NAME}-py3-none-any.whl"
OLDEST_PYTHON = (3, 11)
METADATA = f"""Metadata-Version: 2.1
Name: micrograd_plus
Version: {micrograd_plus.__version__}
Requires-Python: >={OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]}
Requires-Dist: numpy>=2.0
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: micrograd_plus\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
COMMANDS = "[console_scripts]\nmicrograd-plus = micrograd_plus.__main__:main\n"


def build_wheel() -> bytes:
    """Return the wheel, made from the files of the package that is running. Equal files give equal bytes."""
    package = Path(micrograd_plus.__file__).parent
    files = {path.relative_to(package.parent).as_posix(): path.read_bytes() for path in sorted(package.rglob("*"))
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
