"""Stack traces in a question: the code that raises comes first, then its callers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contextkit import ContextItem
from contextkit_code.ranking.traces import trace_in
from tests.growing import assert_linear

Ask = Callable[..., list[ContextItem]]
Project = Callable[[dict[str, str]], Any]


def _shown(item: ContextItem) -> list[str]:
    """The lines of an item that a context shows."""
    rows, first = item.content.split("\n"), item.metadata["start_line"]
    runs = item.metadata.get("lines", [[first, first + len(rows) - 1]])
    return [row for start, end in runs for row in rows[start - first : end - first + 1]]


def _steps(indent: str, end: str = "") -> str:
    return "".join(f"{indent}prepare_part_{n}(parts){end}\n" for n in range(30))


DECORATORS = f"""\
def stamp_option(version=None):
    \"\"\"Add an option that prints the stamp.\"\"\"
{_steps("    ")}
    def callback(ctx, value):
        if not value:
            return
        if version is None:
            raise RuntimeError(
                f"{{ctx.name!r}} has no stamp. Give it one with"
                " 'stamp'."
            )
        print(version)

{_steps("    ")}
    return callback
"""

CORE = f"""\
class Command:
    def __call__(self, *args):
        return self.main(*args)

    def main(self, *args):
{_steps("        ")}
        return self.invoke(args)

    def invoke(self, args):
        return self.callback(self, args)

    def parse(self, args):
        raise RuntimeError("fix this: no stamp")
"""

PYTHON = """\
Traceback (most recent call last):
  File "/home/me/app/cli.py", line 14, in <module>
    cli()
    ~~~^^
  File "/home/me/.venv/lib/python3.14/site-packages/tool/core.py", line 3, in __call__
    return self.main(*args)
           ~~~~~~~~~^^^^^^^
  File "/home/me/.venv/lib/python3.14/site-packages/tool/core.py", line 41, in main
    return self.invoke(args)
  File "/home/me/.venv/lib/python3.14/site-packages/tool/core.py", line 40, in invoke
    return self.callback(self, args)
  File "/home/me/.venv/lib/python3.14/site-packages/tool/decorators.py", line 41, in callback
    raise RuntimeError(
RuntimeError: 'acme' has no stamp. Give it one with 'stamp'."""


@pytest.mark.parametrize(
    "question",
    [
        PYTHON,
        f"Fix this please:\n\n{PYTHON}\n\nThanks",
        PYTHON.replace("Trace", "web-1  | Trace").replace("\n", "\nweb-1  | "),
        PYTHON.replace("\n", "\n> "),
    ],
)
def test_the_function_that_raises_comes_first(project: Project, ask: Ask, question: str) -> None:
    """It is nested in another one, its line has moved, and it is shown around the raise."""
    project({"src/tool/core.py": CORE, "src/tool/decorators.py": DECORATORS})

    items = ask(question)

    assert [item.title for item in items[:4]] == [
        "stamp_option",
        "Command.invoke",
        "Command.main",
        "Command",
    ]
    raising, main = _shown(items[0]), _shown(items[2])
    assert "        if version is None:" in raising
    assert "            raise RuntimeError(" in raising
    assert len(raising) < 25
    assert "        return self.invoke(args)" in main
    assert len(main) < 10


TREE = f"""\
package shop

func (n *node) addRoute(path string) {{
{_steps("	")}
	if n.wild {{
		n.count++
		panic("'" + path +
			"' conflicts with existing wildcard '" + n.path +
			"' in the tree")
	}}
{_steps("	")}
	if path == "" {{
		panic("path is empty")
	}}
}}
"""

ENGINE = """\
package shop

// Engine keeps the routes, and the panics of goroutines that are running.
type Engine struct {
	tree *node
}

func (engine *Engine) addRoute(path string) {
	engine.tree.addRoute(path)
}

func (engine *Engine) GET(path string) {
	engine.addRoute(path)
}
"""

GO = """\
the server does not start any more:

panic: ':name' conflicts with existing wildcard ':id' in the tree

goroutine 1 [running]:
example.org/me/shop.(*node).addRoute(0xc0001a2000, {0x8f1b3a, 0x12})
	/home/me/go/pkg/mod/example.org/me/shop@v1.2.0/tree.go:29 +0x9d6
example.org/me/shop.(*Engine).addRoute(0xc0001d2000, {0x8e9a41, 0x3})
	/home/me/go/pkg/mod/example.org/me/shop@v1.2.0/engine.go:9 +0x2a5
example.org/me/shop.(*Engine).GET(...)
	/home/me/go/pkg/mod/example.org/me/shop@v1.2.0/engine.go:13
main.main()
	/home/me/app/main.go:31 +0x1c5
exit status 2"""


HANDLER = "example.org/me/shop.Recover.func1()\n\t/home/me/shop@v1.2.0/recovery.go:4 +0x1d\n"
PANIC = "panic({0x8f1b3a, 0x12})\n\t/usr/local/go/src/runtime/panic.go:770 +0x132\n"
RECOVERED = GO.replace("[running]:\n", f"[running]:\n{HANDLER}{PANIC}")
SHOP_GO = {
    "tree.go": TREE,
    "engine.go": ENGINE,
    "recovery.go": "package shop\n\nfunc Recover() {\n\tprint(stack())\n}\n",
}

CLIENT = f"""\
export function connect(address) {{
  const handlers = {{}};
{_steps("  ", ";")}
  const retry = async (times) => {{
    if (times === 0) {{
      throw new Error(`gave up after ${{times}} tries`);
    }}
    return retry(times - 1);
  }};
{_steps("  ", ";")}
  return retry;
}}

export class Session {{
  open(address) {{
    return connect(address)(0);
  }}
}}
"""

NODE = """\
What is wrong here?

Error: gave up after 0 tries
    at retry (/app/node_modules/shop/src/client.js:30:13)
    at Session.open (file:///app/node_modules/shop/src/client.js:71:12)
    at async main (/app/index.js:4:3)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)"""


ERRORS = "export function wrong(error) {\n  // what is wrong here: gave up, main index\n}\n"

JAVA_STORE = f"""\
package com.example.shop;

public class Store {{
  public void open() {{
    put(null);
  }}

  public void put(String jar) {{
{_steps("    ", ";")}
    if (jar == null) {{
      throw new IllegalArgumentException("jar must not be null");
    }}
{_steps("    ", ";")}
  }}
}}
"""

JAVA = """\
Why does this happen on start?

java.lang.IllegalStateException: cannot start
	at com.example.shop.Shop.start(Shop.java:5)
	at java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.lang.IllegalArgumentException: jar must not be null
	at com.example.shop.Store.put(Store.java:40)
	at com.example.shop.Store.open(Store.java:5)
	... 3 more"""


MAIN = "src/main/java/com/example"
SHOP_JAVA = {
    f"{MAIN}/shop/Store.java": JAVA_STORE,
    f"{MAIN}/bank/Store.java": JAVA_STORE.replace("com.example.shop", "com.example.bank"),
    f"{MAIN}/shop/Shop.java": (
        "package com.example.shop;\n\nclass Shop {\n  void start() {\n    store.open();\n  }\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("files", "trace", "titles", "path", "raises"),
    [
        (SHOP_GO, GO, ["node.addRoute", "Engine.addRoute", "Engine.GET"], "tree.go", "n.wild {"),
        (SHOP_GO, RECOVERED, ["node.addRoute", "Engine.addRoute"], "tree.go", "n.wild {"),
        (
            {"src/client.js": CLIENT, "src/errors.js": ERRORS},
            NODE,
            ["connect", "Session"],
            "src/client.js",
            "times === 0",
        ),
        (SHOP_JAVA, JAVA, ["Store.put", "Store", "Shop"], f"{MAIN}/shop/Store.java", "jar == null"),
    ],
    ids=["go", "go-recovered", "node", "java"],
)
def test_a_trace_begins_with_what_raises(
    project: Project,
    ask: Ask,
    files: dict[str, str],
    trace: str,
    titles: list[str],
    path: str,
    raises: str,
) -> None:
    """Then its callers; of a long function only what is around the raise is shown.

    The message tells which of two panics it is, the package which of two files, and the handler of
    a recovered panic is passed over. Java's last cause comes first.
    """
    project(files)

    items = ask(trace)

    assert [item.title for item in items[: len(titles)]] == titles
    assert items[0].metadata["file_path"] == path
    shown = _shown(items[0])
    assert any(raises in row for row in shown)
    assert not any("path is empty" in row for row in shown)
    assert len(shown) < 20


def test_a_report_with_a_trace_is_about_its_title(project: Project, ask: Ask) -> None:
    """What raises comes second where much else is written beside the trace."""
    wanted = "def close_shelf(shelf):\n    # close the shelf at night\n    shelf.close()\n"
    files = {"src/tool/core.py": CORE, "src/tool/decorators.py": DECORATORS}
    project({**files, "src/tool/shelf.py": wanted})

    story = "The shelf shall close at night, so that shelf and jars keep cool. " * 9
    title = "Please let close_shelf in shelf.py close the shelf at night"
    items = ask(f"{title}\n\n{story}\n\n{PYTHON}\n\n{story}")

    assert [item.title for item in items[:2]] == ["close_shelf", "stamp_option"]


@pytest.mark.parametrize(
    ("text", "place", "owner"),
    [
        (
            "   3: shop::store::put\n             at ./src/store.rs:12:5",
            "src/store:12 put",
            "store",
        ),
        ("thread 'main' panicked at src/store.rs:12:5:\nno jar", "src/store:12 ", ""),
        (
            "   at Shop.Store.Put(String jar) in C:\\shop\\Store.cs:line 12",
            "shop/Store:12 Put",
            "Store",
        ),
        ("thread 'main' panicked at 'no jar', src/store.rs:12:5", "src/store:12 ", ""),
        ("    at put (webpack:///./src/store.js:12:7)", "src/store:12 put", ""),
        ("    at async Store.put [as add] (C:\\app\\store.js:12:7) {", "app/store:12 put", "Store"),
        ("lib/store.rb:12:in `put': no jar (RuntimeError)", "lib/store:12 put", ""),
        ("    at /app/lib/store.js:12:7", "app/lib/store:12 ", ""),
        ("    at Object.<anonymous> (/app/store.js:12:7)", "app/store:12 ", ""),
        ("\tat com.shop.Store.<init>(Store.java:12)", "com/shop/Store:12 Store", "shop"),
        ("shop.(*Store).Put.func1()\n\t/app/store.go:12 +0x1d", "app/store:12 Put", "Store"),
        ("shop.Put(...)\n\t/app/store.go:12", "app/store:12 Put", "shop"),
        ("src/store.py:12: error: No jar", "src/store:12 ", ""),
        ("src/store.c:12:5: error: no jar", "src/store:12 ", ""),
        ("src/store.ts(12,5): error TS1: No jar", "src/store:12 ", ""),
        ("src/store.ts:12:5 - error TS1: No jar", "src/store:12 ", ""),
        ("error[E1]: no jar\n  --> src/store.rs:12:5\n   |", "src/store:12 ", ""),
        ("src/store.py:12: in put\n    jar()", "src/store:12 put", ""),
        ("E   JarError: no jar\n\nsrc/store.py:12: JarError", "src/store:12 ", ""),
        ("--- FAIL: TestPut (0.01s)\n    store_test.go:12: no jar", "store_test:12 TestPut", ""),
    ],
)
def test_frames_are_read_as_each_language_writes_them(text: str, place: str, owner: str) -> None:
    """The file without what is above it, the line, the function and its class."""
    trace = trace_in(f"It fails\n{text}\n")

    assert trace is not None
    (frame,) = trace.frames
    found = frame.place
    assert f"{found.text}:{found.line} {found.function}" == place
    assert frame.owner == owner


def test_a_question_that_names_a_place_has_no_trace() -> None:
    """Nor has prose that looks a little like one."""
    assert trace_in("Look at lib/store.js:12 and at the File, line 3") is None
    assert trace_in("at what time\nfrom here: in it") is None
    assert trace_in("12:30:01 error: no jar at localhost:8080") is None


def test_pytest_and_python_write_the_innermost_frame_last() -> None:
    """Compilers write the first error first."""
    for text in (
        "shop/test_a.py:3: \n_ _ _\nshop/store.py:12: in put\n",
        "shop/store.py:12: error: no jar\nshop/test_a.py:3: error: no jar\n",
    ):
        trace = trace_in(text)
        assert trace is not None
        assert [frame.place.parts[-1] for frame in trace.frames] == ["store", "test_a"]


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "at ",
        "at a",
        "at a(",
        "at a:1",
        " in ",
        ' File "',
        "thread a panicked at ",
        "from a:1:",
        "a/",
        "a.",
        "\ta.go:1\n",
        "at a (b:1)\n",
        "a\n at b.rs:1:1\n",
        "Caused by:\n",
        ":line 1",
        "a.b(1,",
        "a.b:1:1:",
        "--> a:1",
        "<",
        "(",
    ],
)
def test_traces_are_read_in_linear_time(text: str) -> None:
    """Whatever the text is made of."""
    assert_linear(trace_in, lambda size: (text * size)[:size], 100_000)
