"""Earlier bytes of a session are never rewritten, so that a provider's cache holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit.testing import own_home
from tests.benchmarks.provider_cache import Play, ProviderCache, Turn, copy_code, main, play

_LEAST_SHARE = 0.95
_TURNS = 12


@pytest.mark.one_python
async def test_a_session_hits_what_can_be_hit(tmp_path: Path) -> None:
    """Over edits and a new note; the same question gets the same bytes."""
    copy_code(tmp_path / "code", ["budget", "dedup"])
    with own_home():
        played = await play(tmp_path / "code", _TURNS)
    assert len(played.turns) == _TURNS
    assert sum(bool(turn.said) for turn in played.turns) >= 0.6 * _TURNS
    assert played.rewritten() == 0
    known, could, _ = played.hits()
    assert known >= _LEAST_SHARE * could > 0
    assert len(set(played.repeated)) == len(set(played.again)) == 1
    assert played.again[0]


def test_a_changed_byte_is_seen() -> None:
    """The simulated cache counts what stands before it, in whole blocks."""
    cache, before = ProviderCache(), "a" * 4 * 2048
    assert cache.ask(before) == 0
    assert cache.ask(f"{before}more") == cache.whole(before) == 2048
    changed = f"{before[:5000]}b{before[5001:]}"
    assert cache.ask(changed) == 1152
    assert cache.ask("c" + before) == 0
    assert cache.ask("a" * 4 * 1000) == 0
    played = Play(turns=[Turn(request=before, said=""), Turn(request=changed, said="")])
    assert played.rewritten() == 1
    assert played.hits() == (1152, 2048, 4096)


@pytest.mark.uncounted
def test_a_small_round_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """With the share, and with what was rewritten."""
    main(["--small"])
    shown = capsys.readouterr().out
    assert "share" in shown
    assert "rewritten" in shown
    with pytest.raises(SystemExit):
        main(["--turns", "1"])
