"""Run the Gradescope package in a root file system, as root without the right to make namespaces.

    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates RELEASE ROOT
    PYTHONPATH=tests python -m trials.gradescope_image ROOT

RELEASE is Gradescope's default image, jammy (Ubuntu 22.04), or the nearest that can be had. As in its containers, there
is no compiler, and a process has the capabilities that Docker leaves to root. The script needs root, and changes ROOT.
It prints the Python of ROOT, the end of setup.sh's output, and the score and the output of two submissions. The exit
code is 0 if both are marked as they should be.
"""

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from graded import RIGHT, SECRET, SIGN
from micrograd_plus.__main__ import main as command

CAPABILITIES = (
    "chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "setfcap", "net_bind_service",
    "net_raw", "sys_chroot", "mknod", "audit_write",
)  # fmt: skip
"""What Docker leaves to root."""
ASSIGNMENT = f'title = "week"\nexercises = ["tanh.x", "exp.x"]\nsecret = "{SECRET}"\n'
FULL = 20.0
SUBMISSIONS = {"right": RIGHT, "with a wrong sign": SIGN}
CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")


def run_inside(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command with a root file system as its root."""
    bounds = ",".join(["-all", *(f"+{name}" for name in CAPABILITIES)])
    settings = {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/root", "LANG": "C.UTF-8",
                "DEBIAN_FRONTEND": "noninteractive", "PIP_CERT": f"/{CERTIFICATES}"}  # fmt: skip
    return subprocess.run(["setpriv", f"--bounding-set={bounds}", "--inh-caps=-all", "chroot", str(root), *words],
                          check=False, capture_output=True, text=True, env=settings)  # fmt: skip


def unpack(root: Path) -> None:
    """Make the package of an assignment, and unpack it where Gradescope does."""
    shutil.rmtree(root / "autograder", ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "week.toml").write_text(ASSIGNMENT, encoding="utf-8")
        archive = Path(name) / "autograder.zip"
        if command(["grade", "--pack", "gradescope", "--assignment", f"{name}/week.toml", "-o", str(archive)]):
            sys.exit("the package could not be made")
        with zipfile.ZipFile(archive) as file:
            file.extractall(root / "autograder" / "source")
    (root / "autograder" / "submission").mkdir()
    people = {"id": 1, "users": [{"id": 2, "email": "ada@x.edu", "name": "Ada"}]}
    (root / "autograder" / "submission_metadata.json").write_text(json.dumps(people), encoding="utf-8")


@contextlib.contextmanager
def mount_folders(root: Path) -> Iterator[None]:
    """Give a root file system the kernel's folders and this machine's name server and certificates."""
    for name in ("etc/resolv.conf", str(CERTIFICATES)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(f"/{name}", root / name)
    places = [("proc", "proc"), ("dev", "dev")]
    for source, place in places:
        subprocess.run(["mount", "--bind", f"/{source}", str(root / place)], check=True)
    try:
        yield
    finally:
        for _, place in reversed(places):
            subprocess.run(["umount", "--lazy", str(root / place)], check=True)


def try_package(root: Path) -> bool:
    """Build the autograder and mark the submissions. Return whether all went as it should."""
    print(run_inside(root, "bash", "-c", "grep PRETTY_NAME /etc/os-release; python3 --version; which cc gcc").stdout)
    setup = run_inside(root, "bash", "/autograder/source/setup.sh")
    print(f"setup.sh: exit code {setup.returncode}", *(setup.stdout + setup.stderr).splitlines()[-4:], sep="\n  ")
    if setup.returncode:
        return False
    fine = True
    for title, source in SUBMISSIONS.items():
        (root / "autograder" / "submission" / "work.py").write_text(source, encoding="utf-8")
        ran = run_inside(root, "bash", "/autograder/source/run_autograder")
        results = json.loads((root / "autograder" / "results" / "results.json").read_text(encoding="utf-8"))
        print(f"{title}: exit code {ran.returncode}, score {results['score']}", results["output"], sep="\n  ")
        fine &= ran.returncode == 0 and (results["score"] == FULL) == (title == "right")
    return fine


def main() -> int:
    """Run the package in the root file system that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="the folder of a root file system")
    root = parser.parse_args().root.resolve()
    unpack(root)
    with mount_folders(root):
        return 0 if try_package(root) else 1


if __name__ == "__main__":
    sys.exit(main())
