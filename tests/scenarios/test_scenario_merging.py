"""Files laid over one another: what wins, where it came from, and what earlier sources still vouch for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from deniability.scenarios import InputError, resolve
from deniability.scenarios.merging import Layer, Merged, overlay
from deniability.scenarios.paths import look_up

from .strategies import leaves, trees

Write = Callable[..., Path]


def merged(*layers: dict[str, Any]) -> dict[str, Any]:
    result = Merged()
    for number, tree in enumerate(layers):
        result = overlay(result, Layer(f"{number}.toml", tree))
    return result.tree


def speaks_of(tree: Any, keys: tuple[str, ...]) -> bool:
    """Whether a tree has something of its own at `keys`, or a value on the way there."""
    for key in keys:
        if not isinstance(tree, dict):
            return True
        if key not in tree:
            return False
        tree = tree[key]
    return True


@given(trees)
def test_nothing_below_or_the_same_below_changes_nothing(tree: dict[str, Any]) -> None:
    assert merged(tree) == tree
    assert merged(tree, tree) == tree
    assert merged(tree, {}) == tree


@settings(max_examples=50)
@given(trees, trees)
def test_the_later_file_wins_and_the_earlier_one_keeps_what_it_alone_says(
    below: dict[str, Any], above: dict[str, Any]
) -> None:
    result = merged(below, above)
    said = dict(leaves(above))
    assert {keys: look_up(result, keys) for keys in said} == said
    for keys, value in leaves(below):
        if not speaks_of(above, keys):
            assert look_up(result, keys) == value
    assert {keys for keys, _ in leaves(result)} <= said.keys() | {keys for keys, _ in leaves(below)}


@settings(max_examples=50)
@given(trees, trees)
def test_every_value_has_the_origin_of_the_file_that_set_it(
    below: dict[str, Any], above: dict[str, Any]
) -> None:
    result = overlay(overlay(Merged(), Layer("below", below)), Layer("above", above))
    said = {keys for keys, _ in leaves(above)}
    for keys, _ in leaves(result.tree):
        origin = result.origin(keys)
        assert origin is not None
        assert origin.file == ("above" if keys in said else "below")


@settings(max_examples=50)
@given(trees, trees)
def test_merging_changes_neither_of_its_parts(below: dict[str, Any], above: dict[str, Any]) -> None:
    copies = repr((below, above))
    merged(below, above)
    assert repr((below, above)) == copies


def test_parents_in_order_then_the_file_itself(write: Write) -> None:
    lab = "[labs.lab-a]\nemployees = 10\n"
    write(
        f"{lab}[auditor]\ndelta = 0.2\nmechanism = 'a'\ncounter = 'a'\n[sweep.grid]\n'auditor.delta' = [0.1, 0.2]",
        "a.toml",
    )
    write("[scenario]\nextends = ['a.toml']\n[auditor]\nmechanism = 'b'\ncounter = 'b'\n", "b.toml")
    path = write(
        "[scenario]\nextends = ['a', 'b.toml']\n[auditor]\ncounter = 'c'\n[sweep.grid]\n'auditor.delta' = [0.3]\n"
    )
    scenario = resolve(path)
    auditor = scenario.config.auditor
    assert (auditor.delta, auditor.mechanism, auditor.counter) == (0.2, "b", "c")
    assert scenario.config.sweep.grid == {"auditor.delta": [0.3]}  # lists are replaced
    assert scenario.parents == ("a.toml", "b.toml")
    assert str(scenario.origins["auditor.delta"]) == "a.toml:4"
    assert str(scenario.origins["auditor.mechanism"]) == "b.toml:4"
    assert str(scenario.origins["auditor.counter"]) == "study.toml:4"
    assert str(scenario.origins["labs.lab-a.employees"]) == "a.toml:2"


def test_relative_parents_are_found_from_the_file_that_names_them(write: Write) -> None:
    Path("below").mkdir()
    write("[labs.lab-a]\nemployees = 7\n", "below/base.toml")
    write("[scenario]\nextends = ['base.toml']\n", "below/middle.toml")
    path = write("[scenario]\nextends = ['below/middle.toml']\n")
    assert resolve(path).config.labs["lab-a"].employees == 7


def test_a_diamond_is_no_circle(write: Write) -> None:
    write("[labs.lab-a]\nemployees = 7\n", "top.toml")
    write("[scenario]\nextends = ['top']\n[incidents]\nrate = 2", "left.toml")
    write("[scenario]\nextends = ['top']\n[incidents]\nrate = 3", "right.toml")
    scenario = resolve(write("[scenario]\nextends = ['left', 'right']\n"))
    assert scenario.config.incidents.rate == 3
    assert scenario.parents == ("top.toml", "left.toml", "right.toml")


def test_a_study_says_itself_what_it_is_called_and_asks(write: Write) -> None:
    write(
        "[scenario]\nname = 'base'\ntitle = 'Base'\nquestion = 'Why?'\n[labs.lab-a]\nemployees = 7\n",
        "base.toml",
    )
    study = resolve(write("[scenario]\nextends = ['base']\n", "My Study.toml")).config.scenario
    assert (study.name, study.title, study.question) == ("my-study", "my-study", "")
    assert study.extends == ()  # spent: what they say is merged in


@pytest.mark.parametrize(
    ("files", "chain"),
    [
        ({"study.toml": ["study"]}, "study.toml -> study.toml"),
        ({"study.toml": ["b"], "b.toml": ["c"], "c.toml": ["b"]}, "study.toml -> b.toml -> c.toml -> b.toml"),
    ],
)
def test_a_circle_is_shown(write: Write, files: dict[str, list[str]], chain: str) -> None:
    for name, parents in files.items():
        write(f"[scenario]\nextends = {parents}\n", name)
    with pytest.raises(InputError, match=f":2: scenario.extends: a circle: {chain}$"):
        resolve("study.toml")


def test_a_missing_parent_is_named_with_where_it_was_looked_for(write: Write) -> None:
    write("", "neighbour.toml")
    path = write("[scenario]\n\nextends = ['neighbor']\n")
    with pytest.raises(InputError) as error:
        resolve(path)
    assert error.value.messages == (
        "study.toml:3: scenario.extends: there is no 'neighbor': neither a shipped scenario nor neighbor nor "
        "neighbor.toml; did you mean neighbour.toml?",
    )
    with pytest.raises(InputError, match="did you mean five-labs"):
        resolve(write("[scenario]\nextends = ['five-lab']\n"))


@pytest.mark.parametrize("value", ['"five-labs"', "3", "[3]", "[['five-labs']]", "{a = 1}"])
def test_extends_is_a_list_of_names(write: Write, value: str) -> None:
    with pytest.raises(
        InputError, match=r"study.toml:2: scenario.extends = .*: must be a list of shipped names"
    ):
        resolve(write(f"[scenario]\nextends = {value}\n"))


def test_a_long_chain_of_parents_ends_in_a_message(write: Write) -> None:
    for number in range(200):
        write(f"[scenario]\nextends = ['s{number + 1}']\n", f"s{number}.toml")
    with pytest.raises(InputError, match="more than 50 scenarios extend one another"):
        resolve("s0.toml")


def test_many_ways_to_the_same_parent_take_no_time(write: Write) -> None:
    # each file names the next one twice: 2 ** 40 ways to the last
    for number in range(40):
        write(f"[scenario]\nextends = ['s{number + 1}', 's{number + 1}']\n", f"s{number}.toml")
    write("[labs.lab-a]\nemployees = 7\n", "s40.toml")
    assert len(resolve("s0.toml").parents) == 40


BASE = """
[labs.lab-a]
employees = 10
[auditor]
delta = 0.1
mechanism = "tca"
[organizations]
prior = 0.3
[evidence]
"auditor.delta" = "assumption: as in the paper"
"auditor.mechanism" = "assumption: as in the paper"
organizations = "assumption: guessed together"
"""


def evidence(write: Write, text: str, *settings: str) -> dict[str, str]:
    write(BASE, "base.toml")
    return resolve(write(f"[scenario]\nextends = ['base']\n{text}"), overrides=settings).config.evidence


def test_a_parents_source_does_not_vouch_for_a_changed_value(write: Write) -> None:
    told = evidence(write, "[auditor]\ndelta = 0.2\nmechanism = 'tca'\n[organizations]\nprior = 0.4\n")
    assert told["auditor.delta"] == "changed in study.toml, which gives no source"
    assert told["organizations.prior"] == "changed in study.toml, which gives no source"
    # repeated, not changed
    assert told["auditor.mechanism"] == "assumption: as in the paper"
    assert told["organizations"] == "assumption: guessed together"


def test_a_source_of_ones_own_stands(write: Write) -> None:
    told = evidence(write, "[auditor]\ndelta = 0.2\n[evidence]\n'auditor.delta' = 'assumption: why not'\n")
    assert told["auditor.delta"] == "assumption: why not"


def test_a_setting_gives_no_source(write: Write) -> None:
    assert (
        evidence(write, "", "auditor.delta=0.3")["auditor.delta"] == "changed in --set, which gives no source"
    )
    assert evidence(write, "", "auditor.delta=0.1")["auditor.delta"] == "assumption: as in the paper"
