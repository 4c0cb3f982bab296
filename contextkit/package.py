"""What the package's own `__init__` modules need: the version, and names imported on first use."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Importing `typing` takes as long as a hook's other modules together.
    from collections.abc import Callable
    from typing import Any

VERSION = "0.1.0"


def lazy_names(package: str, **names: str) -> Callable[[str], Any]:
    """Make the `__getattr__` of a package whose names are imported on first use.

    A process then imports only what it uses: `from contextkit import hookimpl` takes a
    hundredth of the time that all public names take.

    ```python
    __getattr__ = lazy_names(__name__, book="DishBook", dish="Dish InvalidDishError")
    ```

    Args:
        package: the package's name, `__name__`.
        names: module -> the names that it defines, separated by spaces. `items` is a module
            of the package, `..models.items` one of the package above.
    """
    homes = {name: module for module, defined in names.items() for name in defined.split()}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = homes[name]
        above = module.startswith(".")
        home = importlib.import_module(module if above else f".{module}", package)
        return getattr(home, name)

    return get
