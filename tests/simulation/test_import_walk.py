"""What foreign code stands on is found from its sources alone: nothing is run, and every process finds the same."""

import importlib
import sys
import zipfile
from hashlib import sha256
from importlib.metadata import version

import pytest

from deniability.simulation import import_walk
from deniability.simulation.import_statements import wanted
from deniability.simulation.import_walk import NOT_FOUND, imported_by_file, imported_by_modules


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Write files into a folder on the search path; gives the folder."""
    monkeypatch.setattr(import_walk, "_sources", {})
    monkeypatch.syspath_prepend(tmp_path)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / (
                name.replace("__init__", "@").replace("__", "/").replace("@", "__init__") + ".py"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def digest(path):
    return sha256(path.read_bytes()).hexdigest()


def test_modules_are_followed_through_cycles_and_functions_and_nothing_is_run(tree):
    folder = tree(
        mine="import wk_one\nraise SystemExit('run')",
        wk_one="def later():\n    import wk_two\nraise SystemExit('run')",
        wk_two="import wk_one, json, numpy as np\nfrom deniability.agents import ports",
    )
    assert imported_by_file(folder / "mine.py") == {
        "wk_one": digest(folder / "wk_one.py"),
        "wk_two": digest(folder / "wk_two.py"),
    }
    assert not {"wk_one", "wk_two"} & set(sys.modules)


def test_packages_count_with_what_is_around_a_module_and_relative_imports(tree):
    folder = tree(
        mine="from wk_lab.rules.fast import Rule",
        wk_lab____init__="from . import names",
        wk_lab__names="",
        wk_lab__unused="",
        wk_lab__rules____init__="",
        wk_lab__rules__fast="from ..tables import A, B\nfrom .base import *",
        wk_lab__rules__base="",
        wk_lab__tables="",
    )
    assert set(imported_by_file(folder / "mine.py")) == {
        "wk_lab",
        "wk_lab.names",
        "wk_lab.rules",
        "wk_lab.rules.fast",
        "wk_lab.rules.base",
        "wk_lab.tables",
    }


def test_namespaces_have_no_source_but_what_is_in_them_has(tree):
    folder = tree(mine="import wk_space.inner.rule", wk_space__inner__rule="import wk_space.other")
    assert imported_by_file(folder / "mine.py") == {
        "wk_space.inner.rule": digest(folder / "wk_space" / "inner" / "rule.py"),
        "wk_space.other": NOT_FOUND,
    }


def test_what_is_missing_is_noted_for_it_may_come(tree):
    folder = tree(mine="try:\n    import wk_fast.deep\nexcept ImportError:\n    wk_fast = None")
    assert imported_by_file(folder / "mine.py") == {"wk_fast": NOT_FOUND}
    tree(wk_fast="")
    sys.path_importer_cache.clear()
    assert imported_by_file(folder / "mine.py")["wk_fast"] == digest(folder / "wk_fast.py")


def test_other_distributions_stand_with_their_version_and_are_not_walked_through(tree):
    folder = tree(
        mine="import pydantic.fields, yaml_of_nobody\nfrom dateutil import parser\nimport scipy, mesa"
    )
    assert imported_by_file(folder / "mine.py") == {
        "distribution pydantic": version("pydantic"),
        "distribution python-dateutil": version("python-dateutil"),  # not called as what it brings
        "yaml_of_nobody": NOT_FOUND,
    }


def installed(folder, *, wheel=True):
    """Metadata of a distribution that brings wk_dist, as an installer leaves it."""
    info = folder / ("wk_dist-1.5.dist-info" if wheel else "wk_dist.egg-info")
    info.mkdir()
    text = "Metadata-Version: 2.1\nName: wk-dist\nVersion: 1.5\n"
    (info / ("METADATA" if wheel else "PKG-INFO")).write_text(text, encoding="utf-8")
    (info / "top_level.txt").write_text("wk_dist\n", encoding="utf-8")
    if wheel:
        (info / "RECORD").write_text(
            "wk_dist/__init__.py,,\nwk_dist-1.5.dist-info/RECORD,,\n", encoding="utf-8"
        )
        (info / "WHEEL").write_text("Wheel-Version: 1.0\n", encoding="utf-8")


def test_a_version_covers_what_is_installed_but_not_a_folder_of_sources(tree, tmp_path):
    folder = tree(mine="import wk_dist", wk_dist____init__="")
    installed(folder, wheel=False)
    assert set(imported_by_file(folder / "mine.py")) == {"wk_dist"}
    installed(folder)
    assert imported_by_file(folder / "mine.py") == {"distribution wk-dist": "1.5"}


def test_the_sources_of_an_entry_point_count_wherever_they_are_installed(tree):
    folder = tree(wk_dist____init__="import wk_dist.rules", wk_dist__rules="import pydantic")
    installed(folder)
    assert set(imported_by_modules(("wk_dist.rules",), "wk-dist")) == {
        "wk_dist",
        "wk_dist.rules",
        "distribution pydantic",
    }


def test_a_compiled_module_stands_with_the_hash_of_its_file(tree):
    import importlib.machinery

    folder = tree(mine="import wk_native")
    native = folder / f"wk_native{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    native.write_bytes(b"\x7fELF import nothing")
    assert imported_by_file(folder / "mine.py") == {"wk_native": digest(native)}


def test_sources_in_an_archive_are_read(tree, monkeypatch):
    folder = tree(mine="import wk_zipped")
    with zipfile.ZipFile(folder / "code.zip", "w") as archive:
        archive.writestr("wk_zipped.py", "import wk_other")
    monkeypatch.syspath_prepend(folder / "code.zip")
    assert imported_by_file(folder / "mine.py") == {
        "wk_zipped": sha256(b"import wk_other").hexdigest(),
        "wk_other": NOT_FOUND,
    }


def test_sources_that_cannot_be_read_or_parsed_are_noted_and_end_nothing(tree, monkeypatch):
    folder = tree(mine="import wk_old, wk_gone", wk_old="print 'old'", wk_gone="")
    where = str(folder / "wk_gone.py")
    read = import_walk.SourceFileLoader.get_data

    def get_data(self, path):
        if path == where:
            raise PermissionError(path)
        return read(self, path)

    monkeypatch.setattr("importlib.machinery.SourceFileLoader.get_data", get_data)
    assert imported_by_file(folder / "mine.py") == {
        "wk_old": digest(folder / "wk_old.py"),
        "wk_gone": "unreadable",
    }


@pytest.mark.parametrize(
    "text",
    [
        "import pkgutil\nmodules = list(pkgutil.iter_modules(__path__))",
        "import importlib\ndef __getattr__(name):\n    return importlib.import_module('.' + name, __name__)",
    ],
)
def test_a_package_that_looks_for_its_modules_counts_whole(tree, text):
    folder = tree(
        mine="import wk_found",
        wk_found____init__=text,
        wk_found__rule="",
        wk_found__more____init__="",
        wk_found__more__deep="",
    )
    assert set(imported_by_file(folder / "mine.py")) == {
        "wk_found",
        "wk_found.rule",
        "wk_found.more",
        "wk_found.more.deep",
    }


def test_a_plugin_that_loads_its_neighbours_by_file_counts_with_them(tree):
    folder = tree(
        mine="from importlib.util import spec_from_file_location as load\n"
        "from importlib import util\nutil.spec_from_file_location('x', 'beside.py')",
        beside="import wk_far",
        wk_far="",
    )
    found = imported_by_file(folder / "mine.py")
    assert set(found) == {"beside.py", "wk_far.py", "wk_far"}


def test_a_module_that_is_named_in_a_call_is_followed(tree):
    folder = tree(
        mine="import importlib\nimportlib.import_module('wk_named')\n__import__('json')", wk_named=""
    )
    assert set(imported_by_file(folder / "mine.py")) == {"wk_named"}


def test_a_source_counts_as_it_was_when_it_was_first_looked_at(tree):
    """What is imported stays in memory: a process that looked again would take the new file for what it runs."""
    folder = tree(mine="import wk_edited", wk_edited="x = 1")
    before = imported_by_file(folder / "mine.py")
    tree(wk_edited="x = 2")
    assert imported_by_file(folder / "mine.py") == before


def test_relative_imports_beyond_the_top_ask_for_nothing():
    assert wanted(b"from .. import a\nfrom ... import b", "lab") == wanted(b"", "lab")
    assert wanted(b"from .. import a", "lab.rules").modules == {"lab"}
    assert wanted(b"from .x import a") == wanted(b"")


def test_what_is_imported_for_types_only_never_runs_and_does_not_count():
    source = b"""
import typing
if typing.TYPE_CHECKING:
    import wk_types
else:
    import wk_other
"""
    assert wanted(source).modules == {"typing", "wk_other"}


def test_a_module_that_was_found_on_a_path_of_its_own_is_noted(tree, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    (other / "wk_hidden.py").write_text("import wk_seen", encoding="utf-8")
    mine = "import sys\nsys.path.insert(0, {!r})\nimport wk_hidden\nsys.path.pop(0)"
    folder = tree(mine=mine.format(str(other)), wk_seen="")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [str(other), *sys.path])
        module = importlib.import_module("wk_hidden")
    monkeypatch.setitem(sys.modules, "wk_hidden", module)
    assert imported_by_file(folder / "mine.py") == {
        "wk_hidden": digest(other / "wk_hidden.py"),
        "wk_seen": digest(folder / "wk_seen.py"),
    }
