"""Values that all stages share: requests, items, records, traces, contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextkit.package import lazy_names

if TYPE_CHECKING:
    from contextkit.models.agents import (
        AgentAdapter as AgentAdapter,
        AgentFile as AgentFile,
        AgentOffer as AgentOffer,
        Scope as Scope,
    )
    from contextkit.models.context import (
        ContextComponent as ContextComponent,
        ContextSource as ContextSource,
        FormattedContext as FormattedContext,
    )
    from contextkit.models.embedding import DenseModel as DenseModel
    from contextkit.models.health import (
        HEALTH_STATES as HEALTH_STATES,
        HealthFinding as HealthFinding,
        HealthState as HealthState,
    )
    from contextkit.models.indexer import (
        Indexer as Indexer,
        IndexState as IndexState,
        Progress as Progress,
    )
    from contextkit.models.items import (
        DETAILS as DETAILS,
        GROUPINGS as GROUPINGS,
        SHARES as SHARES,
        STYLES as STYLES,
        ContextItem as ContextItem,
        Detail as Detail,
        Grouping as Grouping,
        IndexReport as IndexReport,
        Overflow as Overflow,
        Provenance as Provenance,
        Shares as Shares,
        Style as Style,
        Successor as Successor,
    )
    from contextkit.models.kit import Kit as Kit
    from contextkit.models.options import values_of as values_of
    from contextkit.models.record import (
        KEEP_SECRET as KEEP_SECRET,
        NO_TIME as NO_TIME,
        REDACTIONS as REDACTIONS,
        USER as USER,
        Filters as Filters,
        Hit as Hit,
        Range as Range,
        Record as Record,
        Search as Search,
        belongs_to_user as belongs_to_user,
    )
    from contextkit.models.records import Records as Records, RecordsView as RecordsView
    from contextkit.models.request import (
        ContextRequest as ContextRequest,
        Recipe as Recipe,
        RecipeTemplate as RecipeTemplate,
        Section as Section,
    )
    from contextkit.models.request_options import (
        OPTIONS as OPTIONS,
        RequestOptions as RequestOptions,
        checked_option as checked_option,
    )
    from contextkit.models.searcher import Searcher as Searcher
    from contextkit.models.source import (
        Setting as Setting,
        SourceInfo as SourceInfo,
        Tool as Tool,
        ToolResult as ToolResult,
    )
    from contextkit.models.strategy import Strategy as Strategy
    from contextkit.models.trace import (
        CacheTrace as CacheTrace,
        ItemTrace as ItemTrace,
        SourceState as SourceState,
        SourceTrace as SourceTrace,
        Trace as Trace,
        Verdict as Verdict,
    )
    from contextkit.models.transcripts import (
        Imported as Imported,
        ImportedSession as ImportedSession,
        LeftOut as LeftOut,
        PastEvent as PastEvent,
        SessionImporter as SessionImporter,
        Transcript as Transcript,
    )

_NAMES = {
    "agents": "AgentAdapter AgentFile AgentOffer Scope",
    "context": "ContextComponent ContextSource FormattedContext",
    "embedding": "DenseModel",
    "health": "HEALTH_STATES HealthFinding HealthState",
    "indexer": "Indexer IndexState Progress",
    "items": (
        "DETAILS GROUPINGS SHARES STYLES ContextItem Detail Grouping IndexReport Overflow "
        "Provenance Shares Style Successor"
    ),
    "kit": "Kit",
    "record": "KEEP_SECRET NO_TIME REDACTIONS USER Filters Hit Range Record Search belongs_to_user",
    "records": "Records RecordsView",
    "options": "values_of",
    "request": "ContextRequest Recipe RecipeTemplate Section",
    "request_options": "OPTIONS RequestOptions checked_option",
    "searcher": "Searcher",
    "source": "Setting SourceInfo Tool ToolResult",
    "strategy": "Strategy",
    "trace": "CacheTrace ItemTrace SourceState SourceTrace Trace Verdict",
    "transcripts": "Imported ImportedSession LeftOut PastEvent SessionImporter Transcript",
}

__all__ = [name for names in _NAMES.values() for name in names.split()]
__getattr__ = lazy_names(__name__, **_NAMES)
