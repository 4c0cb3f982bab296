"""contextkit assembles context for LLM agents from pluggable sources, within a token budget."""

from __future__ import annotations

from contextkit.package import VERSION, lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.assembler import ContextAssembler as ContextAssembler
    from contextkit.errors import (
        ContextAssemblyError as ContextAssemblyError,
        ContextKitError as ContextKitError,
        InvalidContextTypeError as InvalidContextTypeError,
        InvalidRequestError as InvalidRequestError,
        SourceError as SourceError,
    )
    from contextkit.kit import ContextKit as ContextKit
    from contextkit.models.context import (
        ContextSource as ContextSource,
        FormattedContext as FormattedContext,
    )
    from contextkit.models.embedding import DenseModel as DenseModel
    from contextkit.models.health import HealthFinding as HealthFinding
    from contextkit.models.indexer import Indexer as Indexer
    from contextkit.models.items import (
        ContextItem as ContextItem,
        IndexReport as IndexReport,
        Provenance as Provenance,
    )
    from contextkit.models.record import USER as USER, Hit as Hit, Range as Range, Record as Record
    from contextkit.models.records import Records as Records, RecordsView as RecordsView
    from contextkit.models.request import (
        ContextRequest as ContextRequest,
        Recipe as Recipe,
        RecipeTemplate as RecipeTemplate,
        Section as Section,
    )
    from contextkit.models.request_options import RequestOptions as RequestOptions
    from contextkit.models.searcher import Searcher as Searcher
    from contextkit.models.source import (
        Setting as Setting,
        SourceInfo as SourceInfo,
        Tool as Tool,
        ToolResult as ToolResult,
    )
    from contextkit.models.strategy import Strategy as Strategy
    from contextkit.plugin.spec import hookimpl as hookimpl
    from contextkit.text.secrets.span import SecretSpan as SecretSpan
    from contextkit.text.signals import QuerySignals as QuerySignals

__version__ = VERSION

_NAMES = {
    "assembler": "ContextAssembler",
    "errors": (
        "ContextAssemblyError ContextKitError InvalidContextTypeError InvalidRequestError "
        "SourceError"
    ),
    "kit": "ContextKit",
    "models.context": "ContextSource FormattedContext",
    "models.embedding": "DenseModel",
    "models.health": "HealthFinding",
    "models.indexer": "Indexer",
    "models.items": "ContextItem IndexReport Provenance",
    "models.record": "USER Hit Range Record",
    "models.records": "Records RecordsView",
    "models.request": "ContextRequest Recipe RecipeTemplate Section",
    "models.request_options": "RequestOptions",
    "models.searcher": "Searcher",
    "models.source": "Setting SourceInfo Tool ToolResult",
    "models.strategy": "Strategy",
    "plugin.spec": "hookimpl",
    "text.secrets.span": "SecretSpan",
    "text.signals": "QuerySignals",
}

__all__ = [name for names in _NAMES.values() for name in names.split()]
__getattr__ = lazy_names(__name__, **_NAMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
