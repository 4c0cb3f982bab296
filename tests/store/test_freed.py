"""Memory that the engine has freed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

_MUCH = """
import ctypes, pathlib, sys
from contextkit.store.embedded import EmbeddedStore
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.built_in import load_embedder

system = ctypes.CDLL(None)
if not hasattr(system, "malloc_trim"):
    sys.exit("no malloc_trim")
system.malloc.restype, system.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]

def own():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon"))

store = EmbeddedStore(pathlib.Path(sys.argv[1]), OneEmbedder(load_embedder("none")))
store.count(None, None, {})
*blocks, last = [system.malloc(8192) for _ in range(8192)]
for block in blocks:
    ctypes.memset(block, 1, 8192)
for block in blocks:
    system.free(block)
before = own()
store.close()
print(before - own())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_closing_returns_freed_memory(tmp_path: Path) -> None:
    """A process that opens its store again and again would keep what each opening frees."""
    command = [sys.executable, "-c", _MUCH, str(tmp_path / "store")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if "no malloc_trim" in ran.stderr:
        pytest.skip("the C library returns memory by itself")
    assert int(ran.stdout) > 48, ran.stderr
