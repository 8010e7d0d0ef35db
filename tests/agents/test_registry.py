"""Registries find classes by looking, take in plugins, and say what was probably meant."""

import sys
from importlib.metadata import EntryPoint

import pytest

from deniability.agents import registry
from deniability.agents.auditor.mechanisms import MECHANISMS, Mechanism, build
from deniability.agents.registry import Registry, load_plugin, loaded_plugins
from deniability.scenarios.errors import InputError

PLUGIN = '''
"""A mechanism that always audits the last target."""

import numpy as np

from deniability.agents.auditor.mechanisms import Mechanism


class Last(Mechanism):
    """Audit the last target."""

    id = "last"

    def select(self, active_reports):
        return np.full(self.n_replicates, self.n_targets - 1)

    def guarantee(self):
        return 0.0
'''


@pytest.fixture(autouse=True)
def no_plugins_left():
    before = dict(registry._plugins)
    yield
    for path in set(registry._plugins) - set(before):
        del sys.modules[registry._plugins.pop(path).__name__]
    MECHANISMS._n_plugins = -1


@pytest.fixture
def plugin(tmp_path):
    def write(text, name="extra.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_finds_the_classes_of_the_package_without_a_list():
    assert {"exponential", "greedy", "rr", "tca", "uniform"} <= set(MECHANISMS)
    assert list(MECHANISMS) == sorted(MECHANISMS) == list(MECHANISMS.names())
    assert len(MECHANISMS) == len(MECHANISMS.names())
    assert "tca" in MECHANISMS
    assert "mechanism" not in MECHANISMS


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("greedyy", "unknown mechanism 'greedyy': did you mean 'greedy'?"),
        ("exponentail", "did you mean 'exponential'?"),
        ("zzz", "unknown mechanism 'zzz': there are exponential, greedy, rr, tca, uniform"),
    ],
)
def test_an_unknown_name_gets_a_helpful_message(wrong, message):
    with pytest.raises(InputError) as caught:
        build(wrong, 0.1, 10)
    assert message in str(caught.value)


def test_an_unknown_counter_too():
    with pytest.raises(InputError, match="unknown counter 'toplitz': did you mean 'toeplitz'"):
        build("tca", 0.1, 10, "toplitz")


def test_a_plugin_file_joins_the_registry(plugin):
    path = plugin(PLUGIN)
    module = load_plugin(path)
    assert MECHANISMS["last"] is module.Last
    assert build("last", 0.1, 10).guarantee() == 0.0
    assert loaded_plugins()[-1] == path.resolve()


def test_loading_a_plugin_again_does_nothing(plugin):
    path = plugin(PLUGIN)
    assert load_plugin(path) is load_plugin(str(path))


def test_classes_that_a_plugin_only_imports_do_not_join(plugin):
    load_plugin(plugin("from deniability.agents.auditor.mechanisms.greedy import Greedy\n"))
    assert MECHANISMS["greedy"].__module__.startswith("deniability.")


def test_a_name_that_is_taken_is_refused(plugin):
    load_plugin(plugin(PLUGIN.replace('"last"', '"greedy"')))
    with pytest.raises(InputError, match="two mechanisms are called 'greedy'"):
        MECHANISMS.names()


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("raise ValueError('no')", "bad.py", "cannot be loaded: ValueError: no"),
        ("def", "bad.py", "cannot be loaded: SyntaxError"),
        ("", "notes.txt", "not a Python file"),
    ],
)
def test_a_plugin_that_fails_is_bad_input(plugin, text, name, message):
    path = plugin(text, name)
    with pytest.raises(InputError, match=message):
        load_plugin(path)
    assert path.resolve() not in loaded_plugins()


def test_a_missing_plugin_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        load_plugin(tmp_path / "none.py")


class Installed(Mechanism):
    id = "installed"

    def select(self, active_reports):
        return active_reports.argmax(axis=1)

    def guarantee(self):
        return 1.0


def own_registry():
    return Registry("mechanism", Mechanism, "deniability.agents.auditor.mechanisms", "deniability.mechanisms")


def declare(monkeypatch, thing):
    """Let an installed distribution declare `thing` in the entry-point group."""

    class Declared(EntryPoint):
        def load(self):
            if isinstance(thing, Exception):
                raise thing
            return thing

    def entry_points(*, group):
        return (
            [Declared("installed", "somewhere:Installed", group)] if group == "deniability.mechanisms" else []
        )

    monkeypatch.setattr(registry, "entry_points", entry_points)


def test_an_installed_distribution_joins_through_its_entry_point(monkeypatch):
    declare(monkeypatch, Installed)
    assert own_registry()["installed"] is Installed


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (ImportError("gone"), "cannot be loaded: gone"),
        (Mechanism, "no concrete Mechanism class"),
        (int, "no concrete"),
    ],
)
def test_a_broken_entry_point_is_bad_input(monkeypatch, thing, message):
    declare(monkeypatch, thing)
    with pytest.raises(InputError, match=message):
        own_registry().names()
