"""Modules that are rarely used are executed at the first use of one of their names."""

from __future__ import annotations

import subprocess
import sys

COUNTING = """
import os, sys, threading
from types import ModuleType
from contextkit.agent.deferred import defer_imports

defer_imports()
executed = []
sys.addaudithook(lambda name, given: name == "exec" and executed.append(given[0].co_filename))


def times(module):
    return sum(os.path.basename(name) == module for name in executed)

"""


def run(script: str) -> str:
    """Run a script in a process that defers imports, and return what it prints."""
    command = [sys.executable, "-c", COUNTING + script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_module_is_executed_when_it_is_used() -> None:
    """Importing it, even twice, does not execute it; using a name does, once."""
    shown = run("""
import asyncio, csv, ssl
import ssl
from asyncio import sslproto
print(times("ssl.py"), times("sslproto.py"), times("csv.py"))
context = ssl.create_default_context()
print(times("ssl.py"), type(ssl) is ModuleType, ssl.__loader__.__class__.__name__)
print(sslproto.SSLProtocol.__name__, times("sslproto.py"), times("csv.py"))
from csv import reader
print(list(reader(["a,b"])), times("csv.py"))
""")
    assert shown.splitlines() == [
        "0 0 0",
        "1 True SourceFileLoader",
        "SSLProtocol 1 0",
        "[['a', 'b']] 1",
    ]


def test_what_is_set_in_a_deferred_module_stays() -> None:
    """A name that is replaced before the first use keeps its new value."""
    shown = run("""
import ssl
ssl._create_default_https_context = None
print(ssl._create_default_https_context, ssl.CERT_NONE.name)
""")
    assert shown == "None CERT_NONE\n"


def test_threads_that_use_a_module_at_once_execute_it_once() -> None:
    """None of them sees a module without its names."""
    shown = run("""
import pickle
found = []
threads = [threading.Thread(target=lambda: found.append(pickle.loads)) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(found), times("pickle.py"))
""")
    assert shown == "8 1\n"


def test_an_error_of_a_deferred_module_is_raised_at_each_use() -> None:
    """A module that cannot be executed fails as it would without this."""
    shown = run("""
sys.modules["_csv"] = None
import csv
for _ in range(2):
    try:
        csv.reader
    except ImportError as error:
        print(type(error).__name__)
""")
    assert shown.split() == ["ModuleNotFoundError"] * 2
