"""Both notebooks in a real JupyterLab: every cell run, every player stepped by mouse and keyboard, and reopened."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from browser import chromium  # noqa: F401 - a fixture

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
NAMES = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))
QUIET = {"fetchNews": "false", "checkForUpdates": False}
RUN_ALL = """async () => {
    const app = window.jupyterapp;
    await app.restored;
    const panel = app.shell.currentWidget;
    await panel.context.ready;
    await panel.sessionContext.ready;
    return await app.commands.execute("notebook:run-all-cells");
}"""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Lab(NamedTuple):
    """A JupyterLab that is running: where, on which folder, and the word that opens it."""

    address: str
    folder: Path
    token: str

    def url(self, notebook: str) -> str:
        return f"{self.address}/lab/tree/{notebook}?token={self.token}"


@contextmanager
def jupyterlab(folder: Path, home: Path) -> Iterator[Lab]:
    """A JupyterLab on a folder, with all that it remembers in `home`; gone when the block ends."""
    settings = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(QUIET), encoding="utf-8")
    places = {
        "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "IPYTHONDIR": "ipython",
    }  # fmt: skip
    environment = os.environ | {name: str(home / place) for name, place in places.items()}
    lab = Lab(f"http://127.0.0.1:{free_port()}", folder, secrets.token_hex(16))
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={urlsplit(lab.address).port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}",
        f"--IdentityProvider.token={lab.token}", "--LabApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly",
    ]  # fmt: skip
    log = home / "log.txt"
    with log.open("w", encoding="utf-8") as written:
        server = subprocess.Popen(command, env=environment, stdout=written, stderr=written)
        try:
            wait_until_it_answers(lab, server, log)
            yield lab
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


def wait_until_it_answers(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait up to a minute for the server; if it ended or stays silent, fail with what it wrote."""
    for _ in range(300):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{lab.address}/api/status?token={lab.token}", timeout=5):
                return
        except urllib.error.URLError:
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start: {log.read_text(encoding='utf-8')[-2000:]}")
