"""All that can be wrong with a merged scenario, found in one go."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .changing import change_problems
from .linked import file_problems
from .paths import parse_path, render_path
from .problems import Problem, lab_ids, name_problems, validated
from .reference import find_parameter, is_table
from .schema import ScenarioConfig
from .sweeps import sweep_problems
from .wording import did_you_mean, likely_names, likely_paths, written

__all__ = ["check"]

_REFERENCE = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*)\s*(?::|$)")


def check(
    tree: Mapping[str, Any], known_names: Mapping[str, Collection[str]]
) -> tuple[ScenarioConfig | None, list[Problem]]:
    """Check values, names, evidence and sweep: the configuration if the schema accepts it, and every problem."""
    config, problems = validated(tree)
    names = list(_unknown_names(tree, known_names))
    told = {problem.place for problem in names}
    return config, [
        *names,
        *(problem for problem in problems if problem.place not in told),
        *file_problems(tree),
        *change_problems(tree, known_names),
        *_evidence_problems(tree),
        *sweep_problems(tree, known_names),
    ]


def _unknown_names(tree: Mapping[str, Any], known_names: Mapping[str, Collection[str]]) -> Iterator[Problem]:
    def walk(table: Mapping[str, Any], at: tuple[str, ...]) -> Iterator[Problem]:
        for key, value in table.items():
            if isinstance(value, Mapping):
                yield from walk(value, (*at, key))
            else:
                yield from name_problems((*at, key), value, known_names)

    yield from walk(
        {key: value for key, value in tree.items() if key not in ("evidence", "sources", "sweep")}, ()
    )


def _evidence_problems(tree: Mapping[str, Any]) -> Iterator[Problem]:
    evidence, sources = tree.get("evidence"), tree.get("sources", {})
    labs = lab_ids(tree)
    for path, text in evidence.items() if isinstance(evidence, Mapping) else ():
        place = ("evidence", path)
        shown = render_path(place)
        try:
            keys = parse_path(path)
        except ValueError:
            yield Problem(place, f"{shown}: {written(path)} is no dotted path such as auditor.delta")
            continue
        if keys[0] == "labs" and len(keys) > 1 and keys[1] not in labs:
            lab = render_path(keys[:2])
            yield Problem(place, f"{shown}: there is no {lab}{did_you_mean(likely_paths(keys[:2], labs))}")
        elif not (find_parameter(keys) or is_table(keys)):
            yield Problem(
                place, f"{shown}: there is no {render_path(keys)}{did_you_mean(likely_paths(keys, labs))}"
            )
        if not isinstance(text, str):
            continue  # the schema says so
        if not text.strip():
            yield Problem(place, f'{shown}: empty; give a key of [sources], or "assumption: why"')
        reference = _REFERENCE.match(text)
        if reference and reference.group(1) not in {"assumption", "tuned", *sources}:
            hint = did_you_mean(likely_names(reference.group(1), sources, 1), '"')
            yield Problem(place, f"{shown}: [sources] has no {written(reference.group(1))}{hint}")
