"""Which sections of documents come first, and which are left out."""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase

import pytest

from contextkit import ContextKit
from contextkit.testing import Git


@pytest.fixture
def workspace(shelf: Path) -> Path:
    """A README, a configuration and metadata."""
    return shelf


async def test_a_section_that_says_next_to_nothing_comes_behind(
    kit: ContextKit, workspace: Path
) -> None:
    """A version with its date matches a question on releases better than any entry."""
    (workspace / "CHANGES.md").write_text(
        "# Version 8.4\n\nReleased 2026-05-17\n\n"
        "# Version 8.5\n\n- Version numbers are released with a leading letter from now on.\n"
    )
    kit.index()
    context = await kit.assemble_context("which versions were released?")
    assert [item.title for item in context.items][:2] == ["Version 8.5", "Version 8.4"]


async def test_the_parts_beside_one_that_matches_are_not_shown_for_that(
    kit: ContextKit, workspace: Path
) -> None:
    """A long page's other options only mention the hatch."""
    parts = [f"It has a lamp of {n} watt, which is not for the hatch. " * 30 for n in range(4)]
    parts.insert(2, "To open the hatch at night, turn the crank of the hatch. " * 20)
    (workspace / "docs" / "options.md").write_text("# Options\n\n" + "\n\n".join(parts))
    (workspace / "docs" / "night.md").write_text(
        "# Night\n\nAt night the hatch has to stay open.\n"
    )
    kit.index()
    context = await kit.assemble_context("how do I open the hatch at night?", max_tokens=4000)
    assert [item.id for item in context.items] == [
        "docs/night.md::Night",
        "docs/options.md::Options#3",
    ]


async def test_what_is_deprecated_comes_behind_what_replaces_it(
    kit: ContextKit, workspace: Path
) -> None:
    """Unless the question is about what is old."""
    (workspace / "docs" / "hatch.md").write_text(
        "# Hatch\n\n## To open the hatch at night (deprecated)\n\nOpen it by night, by crank.\n\n"
        "## Motor\n\nAlso by night, the motor will open it.\n"
    )
    kit.index()
    titles = []
    for question in (
        "how do I open the hatch at night?",
        "how did we open the old hatch at night?",
    ):
        context = await kit.assemble_context(question)
        titles.append(context.items[0].title)
    assert titles == ["Hatch > Motor", "Hatch > To open the hatch at night (deprecated)"]


async def test_since_when_is_answered_by_the_entry_under_its_version(
    kit: ContextKit, workspace: Path
) -> None:
    """A page on the same thing matches better; asked for it, the page comes first."""
    (workspace / "CHANGES.md").write_text("# Version 8.4\n\n- The lamp blinks at night.\n")
    (workspace / "docs" / "lamp.md").write_text("# Lamp\n\nAt night the lamp blinks, it blinks.\n")
    kit.index()
    context = await kit.assemble_context("since which version does the lamp blink at night")
    assert context.items[0].title == "Version 8.4"
    context = await kit.assemble_context("does the lamp blink at night")
    assert context.items[0].title == "Lamp"


async def test_a_question_about_use_is_not_answered_by_the_list_of_changes(
    kit: ContextKit, workspace: Path
) -> None:
    """The list has all of the question's words, and is shown only if nothing else matches."""
    (workspace / "HISTORY.md").write_text(
        "# 8.4\n\n- Open the hatch with a crank by hand, where its motor failed.\n"
    )
    kit.index()
    context = await kit.assemble_context("how do I open the hatch with a crank?")
    assert [item.title for item in context.items] == ["8.4"]
    (workspace / "docs" / "hatch.md").write_text("# Hatch\n\nTo open it, turn a crank.\n")
    kit.index()
    for question in ("with a crank", "with a failed motor"):
        context = await kit.assemble_context(f"how do I open the hatch {question}?")
        assert [item.title for item in context.items] == ["Hatch"]
    context = await kit.assemble_context("was the hatch changed in version 8.4?")
    assert context.items[0].title == "8.4"


async def test_what_goes_wrong_is_explained_before_old_fixes(
    kit: ContextKit, workspace: Path
) -> None:
    """The list of changes matches better, and stays."""
    (workspace / "HISTORY.md").write_text("# 8.4\n\n- The slow crank is faster.\n")
    page = "# Brake\n\nIt protects children and guests: with it, the crank is slow.\n"
    (workspace / "docs" / "hatch.md").write_text(page)
    kit.index()
    context = await kit.assemble_context("why is the crank so slow?")
    assert [item.title for item in context.items] == ["Brake", "8.4"]


async def test_a_page_about_releases_is_no_list_of_changes(
    kit: ContextKit, workspace: Path
) -> None:
    """Its name may be that of a list, but its headings have no versions."""
    changes = "# 8.4\n\n- Deploy a hatch with releases.\n"
    page = "# Deploying releases\n\nDeploy a hatch with releases.\n"
    for name, text in {"old/releases": changes, "Pro-Changes": changes, "releases": page}.items():
        (workspace / "docs" / name).parent.mkdir(exist_ok=True)
        (workspace / "docs" / f"{name}.md").write_text(text)
    kit.index()
    context = await kit.assemble_context("how do I deploy a hatch with releases?")
    assert [item.title for item in context.items] == ["Deploying releases"]


async def test_a_page_of_an_older_version_ranks_below_the_newest(
    kit: ContextKit, workspace: Path
) -> None:
    """It matches better, and leads where the question names its version."""
    for version, more in (("v1.9", "by hand with a crank"), ("v1.10", "at will")):
        folder = workspace / "docs" / version
        folder.mkdir(parents=True)
        (folder / "hatch.md").write_text(f"# Hatch\n\nThe hatch opens {more}.\n")
    kit.index()
    for question, first in (("", "v1.10"), (" of version 1.9", "v1.9")):
        context = await kit.assemble_context(f"how do I open the hatch{question} with a crank?")
        assert f"docs/{first}/" in str(context.items[0].location)


@pytest.mark.parametrize(("heading", "about"), [("Crank", "cranks"), ("S3", "S3")])
async def test_a_section_whose_heading_says_what_is_asked_comes_first(
    kit: ContextKit, workspace: Path, heading: str, about: str
) -> None:
    """Others have more of the question's words. It comes first even if one item is wanted."""
    (workspace / "docs" / "page.md").write_text(
        f"# Page\n\n## Lamp\n\nIts colour is as bright as the colour of {about} by night.\n\n"
        f"## {heading}\n\nOne may choose its colour, like that of any other thing, at will.\n"
    )
    kit.index()
    context = await kit.assemble_context(f"which colour has {about}?", limit=1)
    assert context.items[0].title == f"Page > {heading}"


async def test_a_heading_may_have_the_long_form_of_a_word(kit: ContextKit, workspace: Path) -> None:
    """The question says "config", and both sections match as well."""
    (workspace / "docs" / "page.md").write_text(
        "# Page\n\n## Lamp wheel\n\nThe file of a lamp has a lamp and a file.\n\n"
        "## Configuration file\n\nIts lamp is long, as any other file.\n"
    )
    kit.index()
    context = await kit.assemble_context("which lamp has the config file?")
    assert context.items[0].title == "Page > Configuration file"


async def test_a_section_without_the_subject_ranks_below(kit: ContextKit, workspace: Path) -> None:
    """It has a rare word of the question, which says what to do and not what with."""
    pages = "".join(
        f"## Lamp {n}\n\nThe crank of lamp {n} is red, long and new.\n\n" for n in "abcd"
    )
    (workspace / "docs" / "page.md").write_text(f"# Page\n\n{pages}## Tests\n\nWrite some.\n")
    kit.index()
    context = await kit.assemble_context("how do I write a crank?")
    assert "Lamp" in str(context.items[0].title)


async def test_a_job_for_tools_ranks_below_a_page_unless_asked_for(
    kit: ContextKit, workspace: Path, git: Git
) -> None:
    """A job of continuous integration has more of the question's words than the page."""
    job = "jobs:\n  hatch:\n    steps:\n      - name: Build and run the tests of the hatch\n"
    (workspace / ".github" / "workflows").mkdir(parents=True)
    (workspace / ".github" / "workflows" / "hatch.yml").write_text(job)
    (workspace / "docs" / "hatch.md").write_text("# Hatch\n\nTo run its tests, turn a crank.\n")
    git("init", "-q")
    git("add", ".")
    kit.index()
    context = await kit.assemble_context("how do I build and run the tests of the hatch?")
    assert context.items[0].title == "Hatch"
    context = await kit.assemble_context("which jobs build and run the tests of the hatch?")
    assert context.items[0].title == "jobs"


async def test_jobs_and_settings_of_tools_answer_questions_about_the_setup(
    kit: ContextKit, workspace: Path, git: Git
) -> None:
    """They come before a page, a list of changes, and settings of another name."""
    jobs = workspace / ".github" / "workflows"
    jobs.mkdir(parents=True)
    for name in ("crank", "lamp"):
        job = f"name: CI\njobs:\n  test:\n    python: [3.11]\n    run: turn the {name}\n"
        (jobs / f"{name}.yml").write_text(job)
    (workspace / "docs" / "page.md").write_text("# Tests\n\nCI tests the crank.\n")
    (workspace / "CHANGES.md").write_text("# 1.2\n\n- CI tests the crank with Python 3.12.\n")
    git("init", "-q")
    git("add", ".")
    kit.index()
    context = await kit.assemble_context("which python versions does CI test the crank with?")
    assert context.items[0].location == ".github/workflows/crank.yml:1"


@pytest.mark.parametrize(
    "asked", ["which version of the crank is required?", "what scripts does package.json define?"]
)
async def test_the_projects_own_package_file_answers_questions_about_it(
    kit: ContextKit, workspace: Path, asked: str
) -> None:
    """Each of its examples has one with more of the question's words."""
    package = '{"scripts": {"test": "turn"}, "dependencies": {"crank": "^1.2"}}\n'
    (workspace / "package.json").write_text(package)
    more = package.replace("turn", "define the scripts of the required version of the crank")
    for folder in (workspace / "examples" / f"e{n}" for n in range(40)):
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(more)
    (workspace / "CHANGES.md").write_text("# 1.2\n\n- A newer version of the crank is required.\n")
    kit.index()
    context = await kit.assemble_context(asked)
    assert str(context.items[0].location).startswith("package.json:")


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("SECURITY.md", "how do I open the hatch at night securely?"),
        ("lamptests/hatch.md", "how do I open the hatch at night in tests?"),
        ("vendor/hatch.md", "how does the vendored dependency open the hatch at night?"),
        ("_posts/2015-01-24-hatch.md", "since when do tests open the hatch at night?"),
        ("docs/compatibility.md", "how do I open the hatch at night, instead of in tests?"),
        ("docs/rfcs/0001-hatch.md", "which RFC proposes to open the hatch at night?"),
        ("docs/de/hatch.md", "wie öffne ich in den Tests hatch at night?"),
        ("README.zh-CN.md", "如何在测试中 open the hatch at night securely"),
    ],
)
def test_what_is_beside_the_documentation_ranks_below_a_page_unless_asked_for(
    kit: ContextKit, workspace: Path, name: str, asked: str
) -> None:
    """It has more of the question's words than the page."""
    (workspace / "docs" / "page.md").write_text(
        "# Page\n\nWith a crank the hatch opens, also by night.\n"
    )
    file = workspace / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# Aside\n\nOpen the hatch at night, securely in tests.\n")
    kit.index()
    for question, first in (("how do I open the hatch at night?", "Page"), (asked, "Aside")):
        context = kit.assemble_context_sync(question)
        assert context.items[0].title == first


async def test_of_a_translated_page_an_english_question_gets_the_original(
    kit: ContextKit, workspace: Path
) -> None:
    """What has not been translated yet says the same in each language.

    A page that is there in no other language is shown, and a question in another language is
    answered in it.
    """
    hatch = "The hatch opens at night with `crank` and `lamp`."
    pages = {
        "docs/hatch/README.md": f"# Hatch\n\n{hatch}\n",
        "docs/ar-SA/hatch/README.md": f"# الفتحة\n\n{hatch} crank crank lamp hatch\n",
        "docs/hatch/README.id-ID.md": f"# Palka\n\n{hatch} Palka crank.\n",
        "docs/es/hatch/README.md": f"# Escotilla\n\n{hatch} La escotilla se abre de noche.\n",
        "docs/es/lamp.md": "# Hatch crank\n\nOpen the hatch at night by `crank` of the lamp.\n",
    }
    for path, text in pages.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    kit.index()
    found = []
    for question in ("open the hatch at night by crank", "¿cómo se abre la escotilla de noche?"):
        context = await kit.assemble_context(question)
        found.append([str(item.location).partition(":")[0] for item in context.items])
    assert set(found[0]) & set(pages) == {"docs/hatch/README.md", "docs/es/lamp.md"}
    assert found[1][0] == "docs/es/hatch/README.md"


async def test_translations_do_not_crowd_out_the_other_sections(
    kit: ContextKit, workspace: Path
) -> None:
    """Two dozen copies of what matches best are more than a search returns."""
    best = "Open the hatch by crank at night."
    page = f"# Hatch\n\n{best}\n\n## Night\n\n{best} Do so slowly.\n"
    for language in ("", *(f"{letter}a-{letter.upper()}A" for letter in ascii_lowercase)):
        folder = workspace / "docs" / language
        folder.mkdir(exist_ok=True)
        (folder / "hatch.md").write_text(page)
    (workspace / "docs" / "lamp.md").write_text(
        "# Lamp\n\nThe hatch has a lamp that shines for the whole night.\n"
    )
    kit.index()
    context = await kit.assemble_context("open the hatch at night by crank")
    assert sorted(str(item.location) for item in context.items) == [
        "docs/hatch.md:1",
        "docs/hatch.md:5",
        "docs/lamp.md:1",
    ]
