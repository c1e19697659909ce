"""Jupyter kernels that start without importing: each is forked from a process that has imported what kernels import.

A kernel shares nothing with another but these imports: its namespace, its working folder and its environment are new.
Its hash seed and the generators that modules seed on import are those of the process that it was forked from. Runs
that must differ in them, since a test compares their numbers, take kernels of two `WarmProcess`es.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
from functools import cached_property
from typing import Any

IMPORTS = (
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "IPython.core.oinspect",
    "micrograd_plus",
    "micrograd_plus.exercises.notebook",
    "micrograd_plus_viz.quizzes.quiz_page",
)
"""What the kernel of every lesson imports, with all that these modules import."""
CAN_FORK = sys.platform == "linux"
"""Elsewhere a kernel starts as a new program: a fork is impossible, or unsafe after NumPy is imported."""


class WarmProcess:
    """Process that has imported what kernels import, and forks a kernel whenever it is asked."""

    @cached_property
    def process(self) -> subprocess.Popen[str]:
        """Start the process. It does not see the folder of tests, and ends with this process."""
        command = [sys.executable, "-P", __file__]
        own_seed = os.environ | {"PYTHONHASHSEED": "random"}
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=own_seed)
        atexit.register(process.stdin.close)
        return process

    def fork_kernel(self, command: list[str], folder: str, environment: dict[str, str]) -> Kernel:
        """Fork a kernel that behaves as the command of a new one says."""
        arguments = command[command.index("ipykernel_launcher") :]
        order = {"arguments": arguments, "folder": folder, "environment": environment}
        self.process.stdin.write(f"{json.dumps(order)}\n")
        self.process.stdin.flush()
        return Kernel(int(self.process.stdout.readline()))

    @cached_property
    def manager_class(self) -> type:
        """Return a class of Jupyter's kernel managers whose kernels are forked from this process."""
        from jupyter_client.manager import AsyncKernelManager
        from jupyter_client.provisioning import LocalProvisioner

        warm = self

        class Provisioner(LocalProvisioner):
            """Jupyter's way to a kernel on this machine, with a fork instead of a new program."""

            async def launch_kernel(self, cmd: list[str], **keywords: Any) -> Any:
                """Fork the kernel, and return where it listens."""
                self.process = warm.fork_kernel(cmd, keywords["cwd"], keywords["env"])
                self.pid = self.pgid = self.process.pid
                return self.connection_info

        class Manager(AsyncKernelManager):
            """Manager of one kernel."""

            def __init__(self, **keywords: Any) -> None:
                super().__init__(**keywords)
                self.provisioner = Provisioner(kernel_spec=self.kernel_spec, parent=self)

        return Manager


class Kernel:
    """A forked kernel, with the methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid, self.handle = pid, os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Return None while the kernel runs, then 0: only its parent could ask how it ended."""
        return 0 if select.select([self.handle], [], [], 0)[0] else None

    def wait(self) -> int:
        """Wait until the kernel has ended."""
        select.select([self.handle], [], [])
        return 0

    def send_signal(self, number: int) -> None:
        """Send a signal to the kernel."""
        signal.pidfd_send_signal(self.handle, number)

    def kill(self) -> None:
        """Kill the kernel."""
        self.send_signal(signal.SIGKILL)

    def __del__(self) -> None:
        os.close(self.handle)


# In the warm process --------------------------------------------------------------------------------------------------


def serve() -> None:
    """Fork a kernel for each order that arrives, and answer with its process's number."""
    for name in IMPORTS:
        importlib.import_module(name)
    gc.freeze()                                               # so that a collection in a kernel copies no page of these
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)             # kernels that have ended leave no zombies
    for line in sys.stdin:
        number = os.fork()
        if number == 0:
            become_kernel(**json.loads(line))
        print(number, flush=True)  # noqa: T201 - the answer


def become_kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Be a kernel from now on, as `python -m ipykernel_launcher` in this folder and environment."""
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)              # the orders are for the warm process
    os.dup2(2, 1)                                             # and so is where it answers
    sys.argv = arguments
    IPKernelApp.launch_instance([*arguments[1:], f"--IPKernelApp.parent_handle={os.getppid()}"])    # ends with it
    os._exit(0)


if __name__ == "__main__":
    serve()
