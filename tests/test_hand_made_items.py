"""`update_context` with items that a host makes by hand: a source, a text and a relevance."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit import ContextItem, ContextKit
from contextkit.models.items import DETAILS, STYLES, Detail, Style

TEXT = "the harbour gate jams at spring tide"
NONE_OF_ITS_FIELDS = (
    "memories code experiences values commits documents events tasks patterns entities relations "
    "workspace"
)


@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("style", STYLES)
def test_its_text_is_shown_whatever_source_it_names(
    tmp_path: Path, style: Style, detail: Detail
) -> None:
    """Such an item has none of the fields that its source writes, so its content is shown."""
    with ContextKit.open(tmp_path) as kit:
        context = kit.assemble_context_sync("why?", style=style, detail=detail, cache=False)
        for source in NONE_OF_ITS_FIELDS.split():
            updated = kit.update_context_sync(context, ContextItem(source, TEXT, 1.0))
            assert TEXT in updated.markdown, source
            assert [item.source for item in updated.items] == [source]
