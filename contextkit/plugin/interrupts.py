"""Tell the user's Ctrl-C from a `KeyboardInterrupt` that a plugin raises."""

from __future__ import annotations

import signal
import threading


def is_interrupt(error: BaseException) -> bool:
    """Check whether an exception may come from Ctrl-C.

    Any other `KeyboardInterrupt` is a plugin's own, and a failure like any other.
    """
    if not isinstance(error, KeyboardInterrupt):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        return True
    # Only needed for a failure, and slow to import.
    import asyncio
    import inspect
    import traceback

    if not callable(handler):
        # Ctrl-C is ignored, as in background processes. Without a loop, the program decides.
        return asyncio._get_running_loop() is None

    # `asyncio.run` has a handler of its own. It raises in a frame of the handler.
    function = inspect.unwrap(getattr(handler, "func", handler))
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is None or code in {
        frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)
    }
