"""Which source's records get which model's vectors: configuration, sources, plugins."""

from __future__ import annotations

import asyncio
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve
from structlog.testing import capture_logs

from contextkit import ContextKit, Record, SourceInfo
from contextkit.config.load import user_config_file
from contextkit.config.sections import SourceSettings
from contextkit.config.settings import Config
from contextkit.embedding.choice import PluginEmbedders
from contextkit.errors import ConfigError, StoreModelMismatchError
from contextkit.plugin.manager import SourceRegistry
from contextkit.testing import HashingModel
from tests.making import OpenKit, from_records, make_plugin

TEXTS = ("The gate is closed before ebb", "High water comes at noon", "The pilot boat is green")


@pytest.fixture
def models() -> dict[str, HashingModel]:
    """What the provider `hash` has; a test may add to it."""
    return {"hash:8": HashingModel(8, "hash:8"), "hash:12": HashingModel(12, "hash:12")}


@pytest.fixture
def provider(models: dict[str, HashingModel]) -> ModuleType:
    """A plugin that has these models, and no others."""

    def contextkit_embedder(model: str) -> HashingModel | None:
        return models.get(model)

    return make_plugin(contextkit_embedder=contextkit_embedder)


def fill(kit: ContextKit, *sources: str) -> None:
    """The same three records for each."""
    for source in sources:
        kit.records(source).put([Record(id=f"{n}", text=text) for n, text in enumerate(TEXTS)])


async def test_each_source_is_embedded_and_searched_with_its_own_model(
    open_kit: OpenKit, provider: ModuleType
) -> None:
    """In one assembly: the default, another one, one that the source names, and none."""
    says_so, no_vectors = SourceInfo(embedder="hash:12"), SourceInfo(embedder="none")
    sources = {
        "tide": make_plugin(contextkit_query=from_records),
        "boats": make_plugin(contextkit_query=from_records),
        "ropes": make_plugin(contextkit_query=from_records, contextkit_source=says_so),
        "code": make_plugin(contextkit_query=from_records, contextkit_source=no_vectors),
    }
    settings = {"sources.boats.embedder": "hash:8"}
    kit = open_kit({**sources, "hashing": provider}, settings=settings)
    fill(kit, *sources)
    assert dict(kit.store.identity.sources) == {
        "tide": "wordllama-256",
        "boats": "hash:8",
        "ropes": "hash:12",
        "code": "none",
    }
    lengths = {name: model.dimensions for name, model in kit.store.identity.models.items()}
    assert lengths == {"wordllama-256": 256, "hash:8": 8, "hash:12": 12}
    for source in ("tide", "boats", "ropes", "code"):
        [hit, *_] = await kit.records(source).search("HIGH water comes at noon")
        assert hit.record.text == TEXTS[1], source
        found = hit.similarity and round(hit.similarity, 3)
        assert found == {"boats": 1.0, "ropes": 1.0, "code": None}.get(source, found), source
    context = await kit.assemble_context("high water", max_tokens=4000)
    assert {source.source: source.state for source in context.trace.sources} == dict.fromkeys(
        sources, "ok"
    )
    assert context.trace.notes == ()


@pytest.mark.parametrize(
    ("configured", "said", "expected"),
    [
        (None, "default", "hash:8"),
        (None, "none", "none"),
        (None, "hash:12", "hash:12"),
        ("default", "none", "hash:8"),
        ("none", "default", "none"),
        ("wordllama", "hash:12", "wordllama-256"),
        ("hash:12", "none", "hash:12"),
    ],
)
def test_the_configuration_beats_what_the_source_says(
    provider: ModuleType,
    configured: str | None,
    said: str,
    expected: str,
) -> None:
    """`default` is the model of `embedding.model`."""
    config = Config(sources={"tide": SourceSettings(embedder=configured)})
    config = evolve(config, embedding=evolve(config.embedding, model="hash:8"))
    registry = SourceRegistry(config, entry_points=False)
    registry.register(make_plugin([], contextkit_source=SourceInfo(embedder=said)), "tide")
    registry.register(provider, "hashing")
    embedders = PluginEmbedders(config, registry)
    assert embedders.of("tide").name == expected
    assert embedders.of("tide") is embedders.known("tide")


def test_a_source_that_is_off_is_known_when_it_is_needed(
    open_kit: OpenKit, provider: ModuleType
) -> None:
    """Nothing is imported to find out before."""
    code = make_plugin([], contextkit_source=SourceInfo(embedder="none"))
    kit = open_kit({"code": code, "hashing": provider}, settings={"embedding.model": "hash:8"})
    kit.disable("code")
    embedders = kit.store.embedders
    assert embedders.known("code") is None
    assert kit.embedder("code").name == "none"
    assert embedders.known("nobody") is None
    assert kit.embedder("nobody").name == "hash:8"
    assert embedders.in_use() == []


async def test_a_query_is_embedded_once_for_all_sources(open_kit: OpenKit) -> None:
    """However many ask for it."""
    asked: list[str] = []

    class Counted(HashingModel):
        def embed_query(self, text: str) -> Any:
            asked.append(text)
            return HashingModel.embed_query(self, text)

    sources = {name: make_plugin(contextkit_query=from_records) for name in ("a", "b", "c")}
    counting = make_plugin(contextkit_embedder=lambda model: Counted(8, model))
    kit = open_kit({**sources, "counting": counting}, settings={"embedding.model": "hash:8"})
    fill(kit, *sources)
    context = await kit.assemble_context("high water")
    assert len(context.trace.sources) == 3
    assert asked == ["high water"]
    await kit.assemble_context("high water")
    assert asked == ["high water"]


# -- models that are not there --------------------------------------------------------------


def test_an_unknown_model_is_an_error_that_names_what_there_is(
    open_kit: OpenKit, provider: ModuleType, models: dict[str, HashingModel]
) -> None:
    """Once it is needed: setting, file and line, the built-in ones, the plugins that were asked."""
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text("\n[embedding]\nmodel = 'hsah:8'\n")
    kit = open_kit({"tide": make_plugin([]), "hashing": provider})
    with pytest.raises(ConfigError) as caught:
        kit.records("tide").put([Record(id="1", text=TEXTS[0])])
    error = caught.value
    assert (error.key, error.file, error.line) == ("embedding.model", user_config_file(), 3)
    assert str(error).endswith(
        "no enabled plugin has the embedding model 'hsah:8'; "
        "available: wordllama, none and the models of hashing"
    )
    with pytest.raises(ConfigError):
        kit.assemble_context_sync("tide?")
    # It is looked for anew each time.
    models["hsah:8"] = HashingModel(8, "hsah:8")
    fill(kit, "tide")


@pytest.mark.parametrize(
    ("settings", "said", "key"),
    [
        ({"sources.tide.embedder": "x:y"}, "default", "sources.tide.embedder"),
        ({}, "x:y", None),
        ({}, "nonsense", None),
    ],
)
def test_an_unknown_model_of_a_source_is_an_error(
    open_kit: OpenKit, settings: dict[str, Any], said: str, key: str | None
) -> None:
    """Whether the configuration named it or the source itself."""
    tide = make_plugin([], contextkit_source=SourceInfo(embedder=said))
    kit = open_kit({"tide": tide}, settings=settings)
    with pytest.raises(
        ConfigError, match=r"wordllama, none; for others, pip install contextkit-embedders$"
    ) as caught:
        kit.records("tide").put([Record(id="1", text=TEXTS[0])])
    assert caught.value.key == key


# -- plugins that fail ----------------------------------------------------------------------


def test_one_plugin_that_fails_does_not_keep_another_from_answering(
    open_kit: OpenKit, provider: ModuleType
) -> None:
    """The model is had from whoever has it."""

    def contextkit_embedder(model: str) -> None:
        raise ImportError("no module named onnxruntime")

    broken = make_plugin(contextkit_embedder=contextkit_embedder)
    settings = {"embedding.model": "hash:8", "sources.ropes.embedder": "hash:99"}
    plugins = {"tide": make_plugin([]), "ropes": make_plugin([]), "a-broken": broken}
    kit = open_kit({**plugins, "hashing": provider}, settings=settings)
    fill(kit, "tide")
    assert kit.store.problem is None
    fill(kit, "ropes")
    problem = str(kit.store.problem)
    assert (
        "the embedding model 'hash:99' fails (plugin 'a-broken' in contextkit_embedder: " in problem
    )
    assert "ImportError: no module named onnxruntime" in problem
    assert [hit.similarity for hit in kit.records("ropes").search_sync("high water")] == [None]


def test_a_name_that_its_plugin_finds_malformed_is_an_error(open_kit: OpenKit) -> None:
    """The user has to mend it: no search goes on without the vectors."""

    def contextkit_embedder(model: str) -> None:
        raise ConfigError("expected hash:NUMBER, got 'hash:x'", key="embedding.model")

    plugins = {
        "tide": make_plugin([]),
        "hashing": make_plugin(contextkit_embedder=contextkit_embedder),
    }
    kit = open_kit(plugins, settings={"embedding.model": "hash:x"})
    with pytest.raises(ConfigError, match=r"embedding\.model: expected hash:NUMBER"):
        fill(kit, "tide")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("hash:8", "expected a DenseModel, got a str"),
        (object(), "expected a DenseModel, got a object"),
        (
            HashingModel(8, ""),
            "name of a HashingModel: expected one line of at most 200 characters, got ''",
        ),
        (HashingModel(8, "x" * 300), "expected one line of at most 200 characters"),
        (HashingModel(8, "two\nlines"), "characters, got 'two\\nlines'"),
        (HashingModel(8, 3), "characters, got 3"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_model_means_keywords_alone(
    open_kit: OpenKit, answer: object, says: str
) -> None:
    """The plugin and the hook are named."""
    plugins = {
        "tide": make_plugin([]),
        "odd": make_plugin(contextkit_embedder=lambda model: answer),
    }
    kit = open_kit(plugins, settings={"embedding.model": "odd:1"})
    fill(kit, "tide")
    assert "plugin 'odd' in contextkit_embedder: " in str(kit.store.problem)
    assert says in str(kit.store.problem)
    assert kit.records("tide").count() == 3


async def test_a_model_that_breaks_down_costs_its_vectors_and_nothing_else(
    open_kit: OpenKit,
) -> None:
    """Records are stored and found by keywords; the trace and one warning say so."""
    broken: list[str] = []

    class Fragile(HashingModel):
        def embed_records(self, texts: Any) -> Any:
            if broken:
                raise ConnectionError(broken[0])
            return HashingModel.embed_records(self, texts)

    plugins = {
        "tide": make_plugin(contextkit_query=from_records),
        "ropes": make_plugin(contextkit_query=from_records),
        "fragile": make_plugin(contextkit_embedder=lambda model: Fragile(8, model)),
    }
    settings = {"sources.tide.embedder": "fragile:1"}
    kit = open_kit(plugins, settings=settings)
    fill(kit, "tide", "ropes")
    broken.append("the endpoint is down")
    with capture_logs() as logs:
        kit.records("tide").put([Record(id="new", text="The mole is long")])
        kit.records("tide").put([Record(id="newer", text="The mole is longer")])
        context = await kit.assemble_context("how long is the mole?", max_tokens=4000)
    warned = [entry["event"] for entry in logs if entry["log_level"] == "warning"]
    assert warned == ["dense_model_failed", "records_without_vectors"]
    [note] = context.trace.notes
    assert "'fragile:1' fails (ConnectionError: the endpoint is down)" in note
    found = {item.id: item.metadata["similarity"] for item in context.items}
    assert found["new"] is None
    assert kit.records("tide").count() == 5
    assert kit.store.identity.sources["tide"] == "fragile:1"


# -- another model now ----------------------------------------------------------------------


def test_another_model_for_a_source_is_refused_until_it_is_re_embedded(
    open_kit: OpenKit, provider: ModuleType
) -> None:
    """Also where the store has that model's vectors for another source."""
    plugins = {"tide": make_plugin([]), "boats": make_plugin([]), "hashing": provider}
    settings = {"embedding.model": "hash:8", "sources.tide.embedder": "hash:12"}
    kit = open_kit(plugins, settings=settings)
    fill(kit, "tide", "boats")
    kit.close()
    changed = open_kit(plugins, settings={"embedding.model": "hash:8"})
    with pytest.raises(StoreModelMismatchError) as caught:
        changed.records("tide").count()
    assert "'hash:12' for the source 'tide'" in str(caught.value)
    assert "the configured model is 'hash:8'" in str(caught.value)
    assert "contextkit reembed" in str(caught.value)


def test_a_source_that_comes_after_the_store_was_opened_is_refused_alone(
    open_kit: OpenKit, provider: ModuleType
) -> None:
    """The others' records are read and written as ever."""
    plugins = {"tide": make_plugin(contextkit_query=from_records), "hashing": provider}
    kit = open_kit(plugins, settings={"embedding.model": "hash:8"})
    fill(kit, "tide")
    kit.close()
    late = open_kit(
        {"boats": make_plugin(contextkit_query=from_records), "hashing": provider},
        settings={"embedding.model": "hash:12"},
    )
    fill(late, "boats")
    late.register(make_plugin(contextkit_query=from_records), "tide")
    for use in (
        lambda: fill(late, "tide"),
        lambda: late.records("tide").search_sync("water"),
    ):
        with pytest.raises(StoreModelMismatchError, match="for the source 'tide'"):
            use()
    context = asyncio.run(late.assemble_context("high water", max_tokens=4000))
    states = {source.source: source.state for source in context.trace.sources}
    assert states == {"boats": "ok", "tide": "failed"}
