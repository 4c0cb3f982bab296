"""Beginning a source: a whole distribution written from templates."""

from contextkit.authoring.new_source import NewSource, NewSourceError

__all__ = ["NewSource", "NewSourceError"]
