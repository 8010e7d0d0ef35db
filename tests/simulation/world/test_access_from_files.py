"""Imported and fitted access graphs: what is taken over from a file, what is kept of it, and that a world runs on it.

Statistical tests use fixed seeds; each would fail by chance once in about 10,000 seeds, and has a negative control.
"""

import json
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from deniability.scenarios import InputError, content_hash
from deniability.simulation import load_scenario, run
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.world.access_fitted import AccessFit, fit_access, matched
from deniability.simulation.world.layout import Layout
from deniability.simulation.world.network import Network
from deniability.simulation.world.network_export import access_network
from deniability.simulation.world.network_files import read_network, write_network
from deniability.simulation.world.network_networkx import network_from_networkx

from .world_makers import config_of, drawn, lab

RISK = 1e-4


def davis() -> nx.Graph:
    """Davis, Gardner & Gardner's 18 women and 14 events, as networkx has them; 89 edges."""
    graph = nx.davis_southern_women_graph()
    graph.graph.clear()  # lists, which GraphML does not know
    return graph


@pytest.fixture
def davis_csv(tmp_path: Path) -> Path:
    """The women's attendance as a list of edges."""
    path = tmp_path / "davis.csv"
    table = pd.DataFrame(davis().edges(), columns=["employee", "compartment"])
    table.to_csv(path, index=False)
    return path


@pytest.fixture
def davis_graphml(tmp_path: Path) -> Path:
    """The same as networkx writes it."""
    path = tmp_path / "davis.graphml"
    nx.write_graphml(davis(), path)
    return path


def imported(
    path: Path, *, headcount: int = 18, n_targets: int = 5, generator: str = "imported", **more: Any
) -> Any:
    """A scenario with one lab whose graph comes from a file."""
    return config_of(
        {"lab-a": lab(headcount, n_targets)}, access={"generator": generator, "file": str(path)}, **more
    )


# ---- imported -----------------------------------------------------------------------------------------------------


def test_davis_from_either_format_is_davis(davis_csv: Path, davis_graphml: Path) -> None:
    for path in (davis_csv, davis_graphml):
        layout, access = drawn(imported(path))
        names = layout.employee_ids()
        graph = davis()
        events = [n for n, d in graph.nodes(data=True) if d["bipartite"] == 1]
        order = list(read_network(str(path)).compartments.ids)
        assert set(order) == set(events)
        # the targets take turns: t0 has the events 0, 5 and 10, and so on
        turns = [event for first in range(5) for event in order[first::5]]
        for event, members in zip(turns, access.members, strict=True):
            assert {names[slot] for slot in members.tolist()} == set(graph[event])
        assert access.sizes.sum() == 89
        assert layout.compartments_of_target.tolist() == [3, 3, 3, 3, 2]


@pytest.mark.parametrize("suffix", ["csv", "graphml"])
def test_a_whole_scenario_runs_on_a_network_that_nobody_here_wrote(
    suffix: str, davis_csv: Path, davis_graphml: Path
) -> None:
    study = davis_csv.parent / "study.toml"
    study.write_text(
        f"""
[time]
periods = 60
[labs.lab-a]
employees = 20
targets = ["a", "b", "c"]
[access]
generator = "imported"
file = "davis.{suffix}"
[colleagues]
generator = "shared-access"
[incidents]
rate = 8.0
[auditor]
mechanism = "greedy"
"""
    )
    result = run(load_scenario(study), seed=3)
    tables, graph = result.tables, davis()
    assert result.metrics["incidents"] > 10
    assert result.metrics["reports"] > 10
    people = tables["people"].set_index("person")["employee_id"]
    assert set(people.dropna()) == {n for n, d in graph.nodes(data=True) if d["bipartite"] == 0}
    assert people.isna().sum() >= 2  # two places that the file does not know, and newcomers
    # who noticed was there; the anonymity set of an event is its attendance
    attendance = sorted(graph.degree(n) for n, d in graph.nodes(data=True) if d["bipartite"] == 1)
    assert sorted(tables["compartments"]["anonymity_set"]) == attendance
    allowed = set(zip(tables["access"]["person"], tables["access"]["compartment"], strict=True))
    incidents = tables["incidents"].set_index("incident")
    notices = tables["notices"]
    n_places = 20
    assert {
        (person % n_places, incidents.loc[incident, "compartment"])
        for person, incident in zip(notices["person"], notices["incident"], strict=True)
    } <= allowed


def test_the_files_of_a_run_state_the_imported_file(davis_csv: Path, deniability_main: Any) -> None:
    study = davis_csv.parent / "study.toml"
    study.write_text(
        '[time]\nperiods = 10\n[auditor]\nmechanism = "greedy"\n[labs.lab-a]\nemployees = 18\n'
        '[access]\ngenerator = "imported"\nfile = "davis.csv"\n'
    )
    out = davis_csv.parent / "out"
    assert deniability_main("run", str(study), "--out", str(out), "--quiet") == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert list(manifest["scenario_files"]) == [str(davis_csv.resolve())]
    before = manifest["content_hash"]
    summary = manifest["anonymity_sets"]["lab-a"]
    assert (summary["compartments"], summary["smallest"], summary["largest"]) == (14, 3, 14)
    davis_csv.write_text(davis_csv.read_text().replace("Evelyn Jefferson,E1\n", ""))
    assert content_hash(load_scenario(study).config) != before
    assert deniability_main("run", str(study), "--out", str(out), "--quiet") == 2  # another scenario


def test_validate_reads_the_file(
    davis_csv: Path, deniability_main: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    study = davis_csv.parent / "study.toml"
    study.write_text('[labs.lab-a]\nemployees = 18\n[access]\ngenerator = "imported"\nfile = "davis.csv"\n')
    assert deniability_main("validate", str(study)) == 0
    study.write_text(study.read_text().replace("18", "17"))
    capsys.readouterr()
    assert deniability_main("validate", str(study)) == 2
    assert "18 employees for 17 places: set labs.lab-a.employees" in "".join(capsys.readouterr())


@pytest.fixture
def deniability_main(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command line as a function of its words: the exit code."""
    from deniability.simulation.command_line import main

    def called(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["deniability", *words])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0)

    return called


def graph_file(tmp_path: Path, text: str, name: str = "g.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "employee,compartment\nann,x\n",
            "target 't1' of lab-a is isolated: none of the 1 compartments belongs to it, so nothing could happen "
            "there",
        ),
        ("employee,compartment,target\nann,x,t0\nann,y,t0\n", "target 't1' of lab-a is isolated"),
        (
            "employee,compartment,target\nann,x,t0\nann,y,T1\n",
            "compartment 'y': target 'T1': lab-a has t0, t1; did you mean t1?",
        ),
        (
            "employee,compartment,target\nann,x,t0\nann,y,\n",
            "compartment 'y': has no target, while others have",
        ),
        (
            "employee,compartment,lab\nann,x,lab-b\n",
            "employee 'ann': lab 'lab-b': there are lab-a; did you mean lab-a?",
        ),
        ("employee,compartment,lab\nann,x,lab-a\nbob,y,\n", "employee 'bob': has no lab, while others have"),
        (
            "employee,compartment\n" + "".join(f"p{n},x\np{n},y\n" for n in range(4)),
            "4 employees for 3 places: set labs.lab-a.employees (times employees.scale) to at least 4",
        ),
    ],
)
def test_a_file_that_does_not_fit_the_lab(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Layout.of(imported(graph_file(tmp_path, text), headcount=3, n_targets=2))
    assert any(message in told for told in caught.value.messages), caught.value.messages


def test_generators_that_read_a_file_need_one() -> None:
    for generator in ("imported", "fitted"):
        with pytest.raises(
            InputError, match=f'labs.lab-a: access.generator = "{generator}" needs access.file'
        ):
            Layout.of(config_of({"lab-a": lab(3)}, access={"generator": generator}))


def test_a_file_may_hold_several_labs_or_one_for_all(tmp_path: Path) -> None:
    labs = {"lab-a": lab(5), "lab-b": lab(4)}
    one_for_all = graph_file(tmp_path, "employee,compartment\nann,x\nbob,x\nbob,y\n")
    layout, access = drawn(config_of(labs, access={"generator": "imported", "file": str(one_for_all)}))
    assert [m.tolist() for m in access.members] == [[0, 1], [1], [5, 6], [6]]
    several = graph_file(
        tmp_path, "employee,compartment,lab\nann,x,lab-b\nbob,x,lab-b\ncid,y,lab-a\n", "h.csv"
    )
    layout, access = drawn(config_of(labs, access={"generator": "imported", "file": str(several)}))
    assert [m.tolist() for m in access.members] == [[0], [5, 6]]
    assert layout.employee_ids() == {0: "cid", 5: "ann", 6: "bob"}
    across = graph_file(tmp_path, several.read_text() + "dan,x,lab-a\n", "i.csv")
    with pytest.raises(InputError, match="lab 'lab-a', but 'lab-b' before"):
        Layout.of(config_of(labs, access={"generator": "imported", "file": str(across)}))
    only_a = graph_file(tmp_path, "employee,compartment,lab\ncid,y,lab-a\n", "j.csv")
    with pytest.raises(InputError, match="nobody has access to anything in lab-b; it has lab-a"):
        Layout.of(config_of(labs, access={"generator": "imported", "file": str(only_a)}))


def test_people_sit_by_department_and_team(tmp_path: Path) -> None:
    nodes = graph_file(
        tmp_path,
        "node,kind,department,team\nann,employee,d2,t9\nbob,employee,d1,t1\ncid,employee,d2,t8\ndan,employee,d2,t9\n"
        "eve,employee,d1,\nfay,employee,d1,\ngil,employee,d1,\nx,compartment,,\n",
        "n.csv",
    )
    edges = graph_file(tmp_path, "employee,compartment\ncid,x\neve,x\n")
    config = config_of(
        {"lab-a": lab(12)},
        access={"generator": "imported", "file": str(edges), "nodes_file": str(nodes)},
        colleagues={"team_size": 2, "teams_per_department": 2},
    )
    layout, access = drawn(config)
    names = [layout.employee_ids()[slot] for slot in range(7)]
    assert names == ["ann", "dan", "cid", "bob", "eve", "fay", "gil"]
    assert layout.teams.team_start.tolist() == [0, 2, 3, 4, 6, 7, 9, 11, 12]
    assert layout.teams.department_start.tolist() == [0, 3, 7, 11, 12]
    assert [m.tolist() for m in access.members] == [[2, 4]]


def test_what_is_public_about_an_imported_graph_are_its_own_sizes(davis_csv: Path) -> None:
    layout, access = drawn(imported(davis_csv))
    target = np.repeat(np.arange(5), 400)
    public = layout.public_sizes(target, KeyedDraws(3).generator("x"))
    for number in range(5):
        own = access.sizes[access.target == number]
        assert set(public[target == number].tolist()) == set(own.tolist())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_exported_graph_imports_as_the_same_world(data: st.DataObject, tmp_path: Path) -> None:
    generator = data.draw(st.sampled_from(["need-to-know", "team-based", "open"]))
    labs = {
        name: lab(data.draw(st.integers(1, 60)), data.draw(st.integers(1, 3)))
        for name in data.draw(st.lists(st.sampled_from(["b", "lab-a", "c9"]), min_size=1, unique=True))
    }
    colleagues = {
        "team_size": data.draw(st.integers(1, 9)),
        "teams_per_department": data.draw(st.integers(1, 4)),
    }
    per_target = data.draw(st.integers(1, 3))
    access_table = {"generator": generator, "compartments_per_target": per_target, "median_access": 6.0}
    layout, access = drawn(
        config_of(labs, access=access_table, colleagues=colleagues), data.draw(st.integers(0, 9))
    )
    network = access_network(access, layout)
    for path, nodes in ((tmp_path / "g.graphml", None), (tmp_path / "g.csv", tmp_path / "n.csv")):
        write_network(network, path, nodes)
        table = {"generator": "imported", "file": str(path), "nodes_file": str(nodes or "")}
        again_layout, again = drawn(config_of(labs, access=table, colleagues=colleagues))
        assert [m.tolist() for m in again.members] == [m.tolist() for m in access.members]
        assert np.array_equal(again.target, access.target)
        assert np.array_equal(again_layout.teams.team_start, layout.teams.team_start)
        assert np.array_equal(again_layout.teams.department_start, layout.teams.department_start)


# ---- fitted -------------------------------------------------------------------------------------------------------


def organisation(n_people: int = 120, n_things: int = 40, seed: int = 5) -> Network:
    """A sparse made-up organisation: four departments, unequal people, things known mostly in one department."""
    generator = np.random.default_rng(seed)
    department = np.sort(generator.integers(4, size=n_people))
    weight = generator.pareto(2.5, size=n_people) + 1.0
    graph = nx.Graph()
    for person in range(n_people):
        graph.add_node(f"p{person}", bipartite=0, department=f"d{department[person]}")
    for thing in range(n_things):
        graph.add_node(f"x{thing}", bipartite=1)
        chance = weight * np.where(department == thing % 4, 6.0, 1.0)
        size = int(generator.integers(2, 9))
        for person in generator.choice(n_people, size=size, replace=False, p=chance / chance.sum()):
            graph.add_edge(f"p{person}", f"x{thing}")
    return network_from_networkx(graph)


@pytest.fixture
def organisation_file(tmp_path: Path) -> Path:
    path = tmp_path / "organisation.graphml"
    write_network(organisation(), path)
    return path


def test_at_the_files_own_size_all_degrees_are_kept_exactly(organisation_file: Path) -> None:
    fit = fit_access(read_network(str(organisation_file)))
    layout, access = drawn(imported(organisation_file, generator="fitted", headcount=120, n_targets=4))
    assert layout.compartments_of_target.tolist() == [10] * 4
    assert sorted(access.sizes) == sorted(fit.mix.sum(axis=1))
    degree = access.n_compartments_of(120)
    sizes = np.bincount(fit.department)
    start = np.concatenate([[0], np.cumsum(sizes)])
    for department in range(4):
        own = degree[start[department] : start[department + 1]]
        assert sorted(own) == sorted(fit.degree[fit.department == department])
    # and of every compartment how many people each department has
    mixes = [np.bincount(layout.teams.department_of(m), minlength=4).tolist() for m in access.members]
    assert sorted(mixes) == sorted(fit.mix.tolist())


def test_rescaled_both_distributions_of_degrees_stay(organisation_file: Path) -> None:
    fit = fit_access(read_network(str(organisation_file)))
    config = imported(organisation_file, generator="fitted", headcount=1200, n_targets=4)
    layout, access = drawn(config)
    assert access.n_compartments == 400
    assert np.bincount(access.sizes).tolist() == (10 * np.bincount(fit.mix.sum(axis=1))).tolist()
    assert np.bincount(access.n_compartments_of(1200)).tolist() == (10 * np.bincount(fit.degree)).tolist()
    # a factor that is no whole number leaves a remainder to chance, at most one per template
    layout, access = drawn(imported(organisation_file, generator="fitted", headcount=1000, n_targets=4))
    assert abs(access.n_compartments - 40 * 1000 / 120) <= 4
    assert stats.ks_2samp(access.sizes, fit.mix.sum(axis=1)).pvalue > 0.2
    assert stats.ks_2samp(access.n_compartments_of(1000), fit.degree).pvalue > 0.2
    assert layout.teams.team_start[-1] == 1000


def test_departments_matter_and_people_within_them_do_not(organisation_file: Path) -> None:
    # negative control of the department structure: evenly drawn access has no department of its own
    layout, access = drawn(imported(organisation_file, generator="fitted", headcount=1200, n_targets=4))

    def home(layout: Layout, members: Any) -> float:
        number = np.bincount(layout.teams.department_of(members), minlength=4)
        return float(number.max() / number.sum())

    fit = fit_access(read_network(str(organisation_file)))
    expected = np.mean(fit.mix.max(axis=1) / fit.mix.sum(axis=1))
    assert np.mean([home(layout, m) for m in access.members]) == pytest.approx(expected, abs=1e-12)


def test_who_has_access_follows_the_configuration_model() -> None:
    # sparse: the chance of an edge between degrees d and s is about d s / edges (Newman, Strogatz & Watts 2001)
    degree = np.array([6, 3] + [1] * 111)
    wanted = np.array([12] + [2] * 54)
    n_edges, trials = int(degree.sum()), 4000
    assert n_edges == wanted.sum()
    generator = np.random.default_rng(2)
    hits = np.zeros(3)
    for _ in range(trials):
        compartment, person = matched(wanted, degree, generator)
        assert len(compartment) == n_edges
        assert np.array_equal(np.bincount(person, minlength=113), degree)
        members = person[compartment == 0]
        hits += [0 in members, 1 in members, 2 in members]
    # exactly, if double edges were impossible to begin with: the person of degree 1 has no such edge to exchange
    assert stats.binomtest(int(hits[2]), trials, 12 / n_edges).pvalue > RISK
    assert stats.binomtest(int(hits[2]), trials, 15 / n_edges).pvalue < RISK  # negative control
    assert hits[0] > 1.5 * hits[1] > 2.5 * hits[2]


def test_a_dense_graph_keeps_its_degrees_too(davis_csv: Path) -> None:
    graph = davis()
    for seed in range(5):
        _, access = drawn(imported(davis_csv, generator="fitted", n_targets=1), seed)
        for members in access.members:
            assert len(np.unique(members)) == len(members)
        assert sorted(access.sizes) == sorted(d for n, d in graph.degree() if graph.nodes[n]["bipartite"])
        assert sorted(access.n_compartments_of(18)) == sorted(
            d for n, d in graph.degree() if not graph.nodes[n]["bipartite"]
        )


@pytest.mark.parametrize("headcount", [1, 2, 3, 7, 50])
def test_a_lab_smaller_than_the_file(headcount: int, organisation_file: Path) -> None:
    layout, access = drawn(imported(organisation_file, generator="fitted", headcount=headcount, n_targets=4))
    assert set(access.target.tolist()) == {0, 1, 2, 3}
    for members in access.members:
        assert 1 <= len(members) <= headcount
        assert len(np.unique(members)) == len(members)
        assert members[-1] < headcount
    assert layout.teams.team_start[-1] == headcount
    public = layout.public_sizes(np.array([0, 1, 2, 3]), KeyedDraws(1).generator("x"))
    assert np.all((public >= 1) & (public <= max(headcount, 1)))


def test_departments_divide_the_headcount_by_largest_remainders() -> None:
    fit = AccessFit(
        np.repeat([0, 1, 2], [5, 3, 2]), np.ones(10, dtype=np.int64), np.ones((1, 3), dtype=np.int64)
    )
    assert fit.headcounts(100).tolist() == [50, 30, 20]
    assert fit.headcounts(7).tolist() == [4, 2, 1]
    assert fit.headcounts(3).tolist() == [1, 1, 1]
    assert fit.headcounts(2).sum() == 2


def test_a_fitted_graph_depends_on_seed_and_lab_alone(organisation_file: Path) -> None:
    def graph(labs: dict[str, Any], seed: int = 1) -> list[list[int]]:
        config = config_of(labs, access={"generator": "fitted", "file": str(organisation_file)})
        layout, access = drawn(config, seed)
        own = layout.lab_names.index("lab-a")
        return [
            (m - layout.first_slot[own]).tolist()
            for m, owner in zip(access.members, access.lab, strict=True)
            if owner == own
        ]

    base = graph({"lab-a": lab(240, 2)})
    assert graph({"lab-b": lab(90, 3), "lab-a": lab(240, 2)}) == base
    assert graph({"lab-a": lab(240, 2)}, seed=2) != base
