"""Write the API documentation: `python .ci/api_docs.py FOLDER`. A warning is an error.

pdoc reads the docstrings of the modules that plugins and hosts may import. It needs no network.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path

import pdoc

ROOT = Path(__file__).parents[1]
CORE = [
    "contextkit",
    "contextkit.cli",
    "contextkit.concurrency",
    "contextkit.errors",
    "contextkit.indexing",
    "contextkit.logs",
    "contextkit.models",
    # The methods that ContextKit and ContextAssembler share.
    "contextkit.pipeline.questions",
    "contextkit.plugin.spec",
    "contextkit.sources",
    "contextkit.testing",
    "contextkit.text",
]
HARMLESS = (
    # pdoc evaluates annotations, and these are for type checkers: `list[str]` in a class with a
    # method `list`, and attrs' `Attribute[str]`.
    "Error parsing type annotation .* is not subscriptable",
    # pdoc looks up the annotations of inherited fields in the module of the class that inherits.
    r"Error parsing type annotation .* for [\w.]+\.__init__",
    # The constructor of a NamedTuple has no module in which pdoc could look a name up.
    r"Error parsing type annotation ForwardRef\(",
    # The keys of a TypedDict that is made by a call are in no source.
    "Cannot determine where .* is taken from",
)
# The modules of contextkit-frameworks import frameworks that are not installed here.
PLUGINS = sorted(
    path.name
    for path in ROOT.glob("plugins/*/src/contextkit_*")
    if path.name != "contextkit_frameworks"
)


def main(folder: Path) -> None:
    """Document the public modules in a folder.

    Args:
        folder: where the pages go; `index.html` is the first.
    """
    warnings.simplefilter("error")
    for harmless in HARMLESS:
        warnings.filterwarnings("ignore", message=harmless)
    for name in (*CORE, *PLUGINS):
        module = importlib.import_module(name)
        # pdoc looks for names in the module's dictionary, where lazy names are not yet.
        for public in getattr(module, "__all__", ()):
            setattr(module, public, getattr(module, public))
    pdoc.render.configure(docformat="google", show_source=False, footer_text="contextkit")
    pdoc.pdoc(*CORE, *PLUGINS, output_directory=folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
