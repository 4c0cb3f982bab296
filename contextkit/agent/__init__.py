"""Agents: hooks at their events, tools for them, and the background server.

Agents write events and answers in their own ways. A plugin connects one: it reads an event, lets
`run_hook` answer it, or offers the tools that sources bring (`offered_tools`, `call_tool`).
"""

from __future__ import annotations

from contextkit.package import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.agent.adapters import (
        answer_with as answer_with,
        context_output as context_output,
        offered_adapters as offered_adapters,
        translate_event as translate_event,
    )
    from contextkit.agent.given import (
        Given as Given,
        Touched as Touched,
        Use as Use,
        given_stamp as given_stamp,
        read_given as read_given,
        use_of as use_of,
    )
    from contextkit.agent.hook import run_hook as run_hook
    from contextkit.agent.indexing import index_for as index_for
    from contextkit.agent.running import remembered_health as remembered_health
    from contextkit.agent.small_json import to_json as to_json
    from contextkit.agent.tools import (
        OfferedTool as OfferedTool,
        call_tool as call_tool,
        offer_tool as offer_tool,
        offered_tools as offered_tools,
    )
    from contextkit.agent.transcript_lines import json_lines as json_lines
    from contextkit.config.load import (
        data_folder as data_folder,
        load_config as load_config,
        user_config_file as user_config_file,
        with_command_timeouts as with_command_timeouts,
    )
    from contextkit.config.settings import Config as Config
    from contextkit.files import (
        make_private_folder as make_private_folder,
        write_private as write_private,
    )
    from contextkit.pipeline.overview import SourceOverview as SourceOverview
    from contextkit.pipeline.recipes import (
        check_excluded as check_excluded,
        offered_recipes as offered_recipes,
    )
    from contextkit.pipeline.render import guarded as guarded
    from contextkit.pipeline.request import make_request as make_request
    from contextkit.plugin.checks import log_failure as log_failure
    from contextkit.plugin.effective import (
        EffectiveSetting as EffectiveSetting,
        effective_settings as effective_settings,
        set_user_setting as set_user_setting,
        unset_user_setting as unset_user_setting,
    )
    from contextkit.plugin.manager import SourceRegistry as SourceRegistry
    from contextkit.plugin.spec import ENTRY_POINT_GROUP as ENTRY_POINT_GROUP

_NAMES = {
    "adapters": "answer_with context_output offered_adapters translate_event",
    "given": "Given Touched Use given_stamp read_given use_of",
    "hook": "run_hook",
    "indexing": "index_for",
    "running": "remembered_health",
    "small_json": "to_json",
    "tools": "OfferedTool call_tool offer_tool offered_tools",
    "transcript_lines": "json_lines",
    "..config.load": "data_folder load_config with_command_timeouts user_config_file",
    "..config.settings": "Config",
    "..files": "make_private_folder write_private",
    "..pipeline.overview": "SourceOverview",
    "..pipeline.recipes": "check_excluded offered_recipes",
    "..pipeline.render": "guarded",
    "..pipeline.request": "make_request",
    "..plugin.checks": "log_failure",
    "..plugin.effective": (
        "EffectiveSetting effective_settings set_user_setting unset_user_setting"
    ),
    "..plugin.manager": "SourceRegistry",
    "..plugin.spec": "ENTRY_POINT_GROUP",
}

__all__ = [name for names in _NAMES.values() for name in names.split()]
__getattr__ = lazy_names(__name__, **_NAMES)
