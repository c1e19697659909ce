"""Finds the browser that the tests use, or installs it if one command is enough.

`make test` runs this file first. On Debian and its relatives, it installs a missing Chromium
if apt-get needs no password; on other systems it prints the missing package. In CI, Chromium is required.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
PLACES = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ),
    "win32": (
        r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
        r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
    ),
}
"""Locations on systems where browsers are not on the path."""
MISSING = (
    "No Chromium was found, so the browser tests cannot run: install the package chromium or Google Chrome, "
    "or give the path of one in MICROGRAD_PLUS_BROWSER."
)


def find_browser() -> str | None:
    """Return the path of a Chromium that starts, or None.

    On Windows it is not started: with --version it opens a window and does not return.
    """
    places = map(os.path.expandvars, PLACES.get(sys.platform, ()))
    for name in (os.environ.get("MICROGRAD_PLUS_BROWSER"), *NAMES, *places):
        path = shutil.which(name) if name else None
        if path and (sys.platform == "win32" or succeeds([path, "--version"])):
            return path
    return None


def apt_get() -> list[str] | None:
    """Return the command that starts apt-get with the right to install, or None if it needs a password."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    if shutil.which("sudo") and succeeds(["sudo", "-n", "true"]):
        return ["sudo", "-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    return None


def install(words: list[str]) -> bool:
    """Install the package chromium; try twice, because a mirror may not answer the first time."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    update, package = [*words, "update"], [*words, "install", "--yes", "--no-install-recommends", "chromium"]
    for _ in range(2):
        if all(subprocess.run(command, env=environment, check=False).returncode == 0
               for command in (update, package)):
            return True
    return False


def succeeds(command: list[str]) -> bool:
    """Return whether a command succeeds within a minute; its output is hidden."""
    try:
        return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def main() -> int:
    """Return 0 if a browser is installed or optional, and 1 if CI requires one."""
    if find_browser():
        return 0
    words = apt_get()
    if words and install(words) and find_browser():
        return 0
    sys.stderr.write(MISSING + "\n")
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
