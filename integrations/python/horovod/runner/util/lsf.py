"""Jobs of IBM's LSF: which hosts it gave us."""

from __future__ import annotations

import os
from functools import lru_cache


class LSFUtils:
    """What the environment of an LSF job tells."""

    @staticmethod
    def using_lsf() -> bool:
        """Whether this is an LSF job."""
        return "LSB_JOBID" in os.environ

    @staticmethod
    def _slots() -> dict[str, int]:
        """Hosts in order, with the slots LSF counts."""
        slots: dict[str, int] = {}
        words = os.environ.get("LSB_MCPU_HOSTS", "").split()
        if words:
            for name, count in zip(words[::2], words[1::2]):
                slots[name] = slots.get(name, 0) + int(count)
            return slots
        path = os.environ.get("LSB_DJOB_HOSTFILE", "")
        names = os.environ.get("LSB_HOSTS", "").split()
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                names = file.read().split()
        for name in names:
            slots[name] = slots.get(name, 0) + 1
        if not slots:
            raise ValueError(
                "this LSF job names no host in LSB_MCPU_HOSTS, LSB_DJOB_HOSTFILE or LSB_HOSTS"
            )
        return slots

    @staticmethod
    def get_compute_hosts() -> list[str]:
        """Hosts that run ranks; a node that LSF adds for itself, with one slot, does not."""
        slots = LSFUtils._slots()
        names = list(slots)
        if "CSM_ALLOCATION_ID" in os.environ and len(names) > 1 and slots[names[0]] == 1:
            return names[1:]
        return names

    @staticmethod
    @lru_cache(maxsize=None)
    def get_num_gpus() -> int:
        """GPUs of a host, judged by this one; 0 if there is none to be seen."""
        import shutil
        import subprocess

        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible:
            return len(visible.split(","))
        if shutil.which("nvidia-smi") is None:
            return 0
        shown = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
        return sum(line.startswith("GPU ") for line in shown.stdout.splitlines())

    @staticmethod
    def get_num_cores() -> int:
        """Cores of a host, judged by this one."""
        return max(1, (os.cpu_count() or 1) // LSFUtils.get_num_threads())

    @staticmethod
    def get_num_threads() -> int:
        """Hardware threads of a core."""
        path = "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"
        try:
            with open(path, encoding="ascii") as file:
                text = file.read().strip()
        except OSError:
            return 1
        count = 0
        for part in text.split(","):
            first, _, last = part.partition("-")
            count += int(last or first) - int(first) + 1
        return max(1, count)

    @staticmethod
    def get_num_processes() -> int:
        """One for each GPU, or for each slot where there are no GPUs."""
        return sum(slots for _, slots in LSFUtils.get_host_slots())

    @staticmethod
    def get_host_slots() -> list[tuple[str, int]]:
        """Hosts and their slots: GPUs, or else what LSF counts."""
        slots = LSFUtils._slots()
        gpus = LSFUtils.get_num_gpus()
        return [(name, gpus or slots[name]) for name in LSFUtils.get_compute_hosts()]
