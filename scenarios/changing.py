"""Changes in the middle of a run: which scenario is in force when, and what can be wrong with them."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .errors import InputError
from .paths import Keys, parse_path, render_path, with_value
from .problems import Problem, lab_ids, name_problems, validated
from .reference import find_parameter, is_table
from .schema import CHANGEABLE, ScenarioConfig
from .wording import did_you_mean, likely_paths, written

__all__ = ["change_problems", "timeline"]


def timeline(config: ScenarioConfig) -> tuple[tuple[float, ScenarioConfig], ...]:
    """Return when which scenario comes into force, in order of time, the first at 0.

    Each is free of changes: what people, labs and the auditor go by at the time, as nobody foresees a change. Changes
    of the same instant are applied in the order of the file.

    Raises
    ------
    InputError
        A change sets something that does not go with the rest.
    """
    stages = [(0.0, config.model_copy(update={"changes": ()}) if config.changes else config)]
    tree: dict[str, Any] = config.model_dump(exclude={"changes"}) if config.changes else {}
    for number, change in sorted(enumerate(config.changes), key=lambda pair: pair[1].at):
        for path, value in change.set.items():
            tree = with_value(tree, parse_path(path), value)
        after, problems = validated(tree)
        if after is None:
            raise InputError([f"changes[{number}].set: {problem.text}" for problem in problems])
        stages.append((change.at, after))
    return tuple(stages)


def change_problems(tree: Mapping[str, Any], known_names: Mapping[str, Collection[str]]) -> Iterator[Problem]:
    """Everything that is wrong with what [[changes]] set: paths, values, and what they clash with."""
    changes = tree.get("changes")
    if not isinstance(changes, list):
        return  # the schema says so
    before = {key: value for key, value in tree.items() if key != "changes"}
    told = {problem.text for problem in validated(before)[1]}
    for number, change in _in_time(changes):
        after = before
        for path, value in change["set"].items():
            place = ("changes", number, "set", path)
            shown = render_path(place)
            if found := list(_path_problems(place, shown, path, tree)):
                yield from found
                continue
            keys = parse_path(path)
            if found := list(name_problems(keys, value, known_names, shown)):
                yield from (Problem(place, problem.text) for problem in found)
                continue
            after = with_value(after, keys, value)
            for problem in validated(after)[1]:
                if problem.text not in told:
                    told.add(problem.text)
                    own = problem.place[: len(keys)] == keys and not problem.clash
                    text = problem.text.replace(render_path(keys), shown, 1)
                    yield Problem(place, text if own else f"{shown} = {written(value)}: {problem.text}")
        before = after


def _in_time(changes: list[Any]) -> list[tuple[int, Mapping[str, Any]]]:
    """The changes that can be read at all, with their numbers, in order of time."""
    readable = [
        (number, change)
        for number, change in enumerate(changes)
        if isinstance(change, Mapping)
        and isinstance(change.get("set"), Mapping)
        and isinstance(change.get("at"), int | float)
        and all(isinstance(path, str) for path in change["set"])
    ]
    return sorted(readable, key=lambda pair: pair[1]["at"])


def _path_problems(
    place: tuple[str | int, ...], shown: str, path: str, tree: Mapping[str, Any]
) -> Iterator[Problem]:
    labs = lab_ids(tree)
    try:
        keys: Keys = parse_path(path)
    except ValueError:
        yield Problem(place, f"{shown}: {written(path)} is no dotted path such as auditor.delta")
        return
    row = find_parameter(keys)
    if keys[0] == "labs" and len(keys) > 1 and keys[1] not in labs:
        yield Problem(place, f"{shown}: unknown lab{did_you_mean(likely_paths(keys[:2], labs))}")
    elif is_table(keys):
        yield Problem(place, f"{shown}: a table; set its keys one by one")
    elif row is None:
        yield Problem(place, f"{shown}: unknown key{did_you_mean(likely_paths(keys, labs))}")
    elif row.path not in CHANGEABLE:
        yield Problem(
            place,
            f"{shown}: cannot change during a run; what can is how people, labs and the auditor behave: "
            f"{_changeable()}",
        )


def _changeable() -> str:
    """The tables with keys that can change, for a message."""
    tables = dict.fromkeys(path.rpartition(".")[0] for path in sorted(CHANGEABLE))
    return ", ".join(f"[{table}]" for table in tables) + " (`deniability schema` lists all keys)"
