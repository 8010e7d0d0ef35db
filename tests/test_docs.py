"""The documentation says what the code says: generated parts, links, columns, references."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from deniability.analysis.validation import PATTERNS
from deniability.scenarios import resolve, shipped_names
from deniability.simulation import run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]


@pytest.fixture(scope="module")
def regenerate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_regenerate", DOCS / "regenerate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_generated_parts_are_what_the_code_says(page: Path, regenerate: ModuleType) -> None:
    text = page.read_text(encoding="utf-8")
    assert regenerate.regenerated(text) == text, "run `python docs/regenerate.py`"


def test_every_part_is_somewhere_and_a_changed_one_is_noticed(regenerate: ModuleType) -> None:
    texts = [page.read_text(encoding="utf-8") for page in DOCS.glob("*.md")]
    begun = [name for text in texts for name in re.findall(r"<!-- begin generated: (\w+) -->", text)]
    assert sorted(begun) == sorted(regenerate.PARTS)
    drifted = "<!-- begin generated: metrics -->\n| `incidents` |\n<!-- end generated: metrics -->"
    assert regenerate.regenerated(drifted) != drifted


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as the usual renderers make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), target
        if anchor:
            assert anchor in anchors(file), target


def test_results_names_every_column_of_a_run_and_no_other() -> None:
    tables = run("five-labs", overrides=["time.periods=3", "employees.scale=0.05"]).tables
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    part = text[text.index("## 4. Tables of a run") :]
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", part, re.MULTILINE | re.DOTALL))
    assert sections.keys() == tables.keys()
    for name, table in tables.items():
        rows = re.findall(r"^\| (`.*?) \|", sections[name], re.MULTILINE)
        told = [column for row in rows for column in re.findall(r"`(\w+)`", row)]
        assert sorted(told) == sorted(table.columns), name


def bibliography() -> dict[str, str]:
    text = (DOCS / "references.bib").read_text(encoding="utf-8")
    return dict(re.findall(r"^@\w+\{([\w-]+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL))


def test_every_source_is_in_the_bibliography() -> None:
    known = bibliography().keys()
    for name in shipped_names():
        assert resolve(name).config.sources.keys() <= known, name
    for pattern in PATTERNS:
        assert set(pattern.source.split(", ")) <= known, pattern.name


def test_every_reference_has_an_address_or_says_that_it_was_not_verified() -> None:
    for key, entry in bibliography().items():
        assert re.search(r"(url|doi) = \{", entry) or "Not verified" in entry, key


def test_addresses_of_scenarios_are_those_of_the_bibliography() -> None:
    text = (DOCS / "references.bib").read_text(encoding="utf-8")
    for name in shipped_names():
        for key, citation in resolve(name).config.sources.items():
            address = re.search(r"https://\S+", citation)
            assert address, key
            bare = address[0].rstrip(";.").removeprefix("https://doi.org/")
            assert bare in text, (name, key)
