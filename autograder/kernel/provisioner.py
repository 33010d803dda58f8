"""A jupyter_client kernel provisioner whose kernels are forked from a warm fork server and confined."""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerBase
from traitlets import Instance, default

from autograder.files.temporary import TemporaryFolder
from autograder.isolation import Confined, Ending
from autograder.kernel.fork_server import ForkServerClient, shared
from autograder.kernel.launch import Launch
from autograder.kernel.scratch import Scratch, kernels_folder

_MEMORY_BYTES, _PROCESSES, _DISK_BYTES = 4 << 30, 64, 256 << 20
_LOOK_EVERY = 0.002  # seconds between looks for the end, while one waits for it


class ForkedProvisioner(KernelProvisionerBase):
    """Forks a kernel for Jupyter, confines it to a scratch folder, speaks with it over unix sockets in there.

    Entry point: ``autograder-forked`` in ``jupyter_client.kernel_provisioners``. A kernel spec that names it needs no
    more: each kernel gets a scratch folder of its own, and the folder Jupyter was started in stays out of reach.
    """

    fork_server = Instance(ForkServerClient)

    confined: Confined | None = None
    line: socket.socket | None = None  # to code in the kernel that asks the grader
    ending: Ending | None = None
    _scratch: Scratch | None = None
    _folder: TemporaryFolder | None = None

    @default("fork_server")
    def _shared_fork_server(self) -> ForkServerClient:
        return shared()

    @property
    def has_process(self) -> bool:
        return self.confined is not None

    @property
    def _manager(self) -> Any:
        return self.parent

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        if self._scratch is None:
            self._folder = kernels_folder()
            self._scratch = Scratch(self._folder.path / "k")
        manager = self._manager
        manager.transport = "ipc"
        manager.ip = self._scratch.socket_prefix
        manager.connection_file = str(self._scratch.connection_file)
        manager.write_connection_file()
        self.connection_info = manager.get_connection_info()
        return await super().pre_launch(cmd=manager.format_kernel_cmd(), **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        assert self._scratch is not None
        folder, variables = str(self._scratch.work), self._scratch.variables()
        launch = Launch(folder, variables, self._manager.connection_file, talkative=True)
        policy = self._scratch.policy(_MEMORY_BYTES, _PROCESSES, _DISK_BYTES)
        self.ending = None
        self.confined, self.line = self.fork_server.fork(launch, policy)
        return self.connection_info

    async def poll(self) -> int | None:
        if self.confined is not None:
            self.ending = self.confined.poll()
        return None if self.confined is not None and self.ending is None else self._exit_code()

    async def wait(self) -> int | None:
        while await self.poll() is None:
            await asyncio.sleep(_LOOK_EVERY)
        if self.confined is not None:
            self.confined.close()
            self.confined = None
        if self.line is not None:
            self.line.close()
            self.line = None
        return self._exit_code()

    def _exit_code(self) -> int:
        return self.ending.exit_code if self.ending is not None else 0

    async def send_signal(self, signum: int) -> None:
        if self.confined is not None:
            self.confined.send_signal(signum)

    async def kill(self, restart: bool = False) -> None:
        """Kill the kernel and wait until all that it started is gone; the manager would look only every 0.1 s."""
        await self.send_signal(signal.SIGKILL)
        while await self.poll() is None:
            await asyncio.sleep(_LOOK_EVERY)

    async def terminate(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGTERM)

    async def cleanup(self, restart: bool = False) -> None:
        if self._scratch is not None and not restart:
            assert self._folder is not None
            self._folder.remove()
            self._scratch = self._folder = None
