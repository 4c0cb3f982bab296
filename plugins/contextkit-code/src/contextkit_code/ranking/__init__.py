"""Which files answer a question best: signals, each a small pure function, and their sum.

No model and no configuration. Keyword scores come from the store, of a file's units and of
its outline; what they cannot know stands in names: a file is about what it and its folder are
called, and a question that names a definition, or spells its name in words, wants that one.
"""

from __future__ import annotations
