"""Who sees whose fate: each graph against its definition, worked out only where it is asked for."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from deniability.scenarios import InputError
from deniability.simulation import load_scenario, run
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.world.checks import check_networks
from deniability.simulation.world.colleagues import COLLEAGUES, colleague_graph
from deniability.simulation.world.layout import Layout, draw_access

from .world_makers import config_of, lab

RISK = 1e-4
LABS = {"lab-a": lab(45, 2), "lab-b": lab(30)}


def graph_of(
    seed: int = 1, labs: dict[str, Any] = LABS, access: Any = None, **table: Any
) -> tuple[Any, Layout, Any]:
    """The graph of colleagues, the layout and the access graph."""
    config = config_of(
        labs, colleagues={"team_size": 4, "teams_per_department": 3, **table}, access=access or {}
    )
    layout, draws = Layout.of(config), KeyedDraws(seed)
    graph = draw_access(layout, draws)
    return colleague_graph(config, layout, graph, draws), layout, graph


def write(tmp_path: Path, text: str, name: str = "colleagues.csv") -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def test_the_registry_has_the_graphs_by_their_names() -> None:
    assert list(COLLEAGUES) == ["teams", "stochastic-block", "shared-access", "imported"]
    assert all(cls.name == name for name, cls in COLLEAGUES.items())


@pytest.mark.parametrize("name", ["teams", "stochastic-block", "shared-access"])
@pytest.mark.parametrize("seed", [1, 2])
def test_graphs_are_undirected_without_loops_and_within_labs(name: str, seed: int) -> None:
    colleagues, layout, _ = graph_of(seed, generator=name, department_density=0.3, team_density=0.7)
    of = [colleagues(slot) for slot in range(75)]
    for slot, others in enumerate(of):
        assert others.dtype == np.int64
        assert np.all(np.diff(others) > 0)
        assert slot not in others
        assert all(slot in of[other] for other in others.tolist())
        assert all((other < 45) == (slot < 45) for other in others.tolist())
    assert layout.first_slot.tolist() == [0, 45, 75]


def test_teams_are_runs_of_places() -> None:
    colleagues, _, _ = graph_of(generator="teams")
    assert colleagues(0).tolist() == [1, 2, 3]
    assert colleagues(6).tolist() == [4, 5, 7]
    assert colleagues(44).tolist() == []  # alone in the lab's last team
    assert colleagues(45).tolist() == [46, 47, 48]


def test_with_all_in_teams_and_none_beyond_the_block_model_is_teams() -> None:
    teams, _, _ = graph_of(generator="teams")
    blocks, _, _ = graph_of(generator="stochastic-block", team_density=1.0, department_density=0.0)
    everybody, layout, _ = graph_of(generator="stochastic-block", team_density=1.0, department_density=1.0)
    for slot in range(75):
        assert blocks(slot).tolist() == teams(slot).tolist()
        department = layout.teams.department(int(layout.teams.department_of(np.array([slot]))[0]))
        assert everybody(slot).tolist() == department[department != slot].tolist()


def test_pairs_are_joined_as_often_as_the_densities_say() -> None:
    colleagues, layout, _ = graph_of(
        labs={"lab-a": lab(3000)}, generator="stochastic-block", team_density=0.8, department_density=0.15
    )
    joined, pairs = np.zeros(2, dtype=int), np.zeros(2, dtype=int)
    slots = np.arange(3000)
    team, department = layout.teams.team_of(slots), layout.teams.department_of(slots)
    for slot in range(3000):
        others = colleagues(slot)
        above = others[others > slot]
        assert np.all(department[above] == department[slot])
        joined += [(team[above] == team[slot]).sum(), (team[above] != team[slot]).sum()]
        later = slots[slot + 1 :][department[slot + 1 :] == department[slot]]
        pairs += [(team[later] == team[slot]).sum(), (team[later] != team[slot]).sum()]
    for k, n, density in zip(joined.tolist(), pairs.tolist(), (0.8, 0.15), strict=True):
        assert stats.binomtest(k, n, density).pvalue > RISK
        assert stats.binomtest(k, n, density + 0.04).pvalue < RISK  # negative control


def test_the_block_model_depends_on_seed_and_lab_alone() -> None:
    def of_b(seed: int = 1, labs: dict[str, Any] = LABS) -> list[list[int]]:
        colleagues, layout, _ = graph_of(seed, labs, generator="stochastic-block", department_density=0.4)
        first = int(layout.first_slot[layout.lab_names.index("lab-b")])
        return [(colleagues(first + place) - first).tolist() for place in range(30)]

    assert of_b() == of_b()
    assert of_b(labs={"lab-c": lab(9), **LABS, "lab-a": lab(333)}) == of_b()
    assert of_b(seed=2) != of_b()
    colleagues, _, _ = graph_of(
        labs={"lab-a": lab(30), "lab-b": lab(30)}, generator="stochastic-block", department_density=0.4
    )
    assert [colleagues(30 + n).tolist() for n in range(30)] != [
        (colleagues(n) + 30).tolist() for n in range(30)
    ]


def test_shared_access_is_the_projection_of_the_access_graph() -> None:
    colleagues, _, access = graph_of(
        generator="shared-access", access={"compartments_per_target": 3, "median_access": 6.0}
    )
    graph = access.to_networkx()
    people = [node for node in graph if node[0] == "employee"]
    projection = nx.bipartite.projected_graph(graph, people)
    for slot in range(75):
        node = ("employee", slot)
        expected = sorted(other for _, other in projection[node]) if node in projection else []
        assert colleagues(slot).tolist() == expected


def test_an_imported_graph_goes_by_the_ids_of_the_access_file(tmp_path: Path) -> None:
    access = {
        "generator": "imported",
        "file": write(tmp_path, "employee,compartment\nann,x\nbob,x\ncid,y\n", "a.csv"),
    }
    file = write(tmp_path, "employee,colleague\ncid,ann\ncid,bob\n")
    colleagues, layout, _ = graph_of(labs={"lab-a": lab(5)}, access=access, generator="imported", file=file)
    at = {name: slot for slot, name in layout.employee_ids().items()}
    assert colleagues(at["cid"]).tolist() == sorted([at["ann"], at["bob"]])
    assert colleagues(at["ann"]).tolist() == [at["cid"]]
    assert colleagues(4).tolist() == []
    file = write(tmp_path, "employee,colleague\ncid,zoe\n")
    with pytest.raises(InputError, match=r"unknown employee 'zoe': in no lab's access\.file"):
        graph_of(labs={"lab-a": lab(5)}, access=access, generator="imported", file=file)


def test_an_imported_graph_takes_the_first_places_of_other_labs(tmp_path: Path) -> None:
    karate = nx.karate_club_graph()
    path = tmp_path / "karate.graphml"
    nx.write_graphml(karate, path)
    for labs in ({"lab-a": lab(40)}, {"lab-a": lab(34), "lab-b": lab(50)}):
        colleagues, layout, _ = graph_of(labs=labs, generator="imported", file=str(path))
        for first in layout.first_slot[:-1].tolist():
            for node in karate:
                assert (colleagues(first + node) - first).tolist() == sorted(karate[node])
    with pytest.raises(InputError, match="34 people for the 33 places of lab-a"):
        graph_of(labs={"lab-a": lab(33)}, generator="imported", file=str(path))


def test_an_imported_graph_may_tell_labs_apart(tmp_path: Path) -> None:
    file = write(tmp_path, "employee,colleague,lab\nann,bob,lab-b\ncid,dan,lab-a\n")
    colleagues, layout, _ = graph_of(generator="imported", file=file)
    assert colleagues(0).tolist() == [1]
    assert colleagues(45).tolist() == [46]
    assert layout.n_targets == 3


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "c.csv", "empty: it needs a header with the columns employee, colleague"),
        ("employee,colleague\n", "c.csv", "nobody knows anybody: there are no edges"),
        ("employee,compartment\nann,x\n", "c.csv", ":1: the column colleague is missing"),
        ("employee,colleague\nann,bob\n,ann\n", "c.csv", "an id of a person is empty"),
        ("employee,colleague\nann,ann\n", "c.csv", ":2: 'ann' as a colleague of his or her own"),
        ("employee,colleague\nann,bob\nbob,ann\n", "c.csv", ":3: a second edge between"),
        ("employee,colleague,lab\nann,bob,lab-c\n", "c.csv", "'ann': lab 'lab-c': there are lab-a, lab-b"),
        ("employee,colleague,lab\nann,bob,lab-a\nbob,cid,lab-b\n", "c.csv",
         ":3: 'bob': lab 'lab-b', but 'lab-a' before"),
        ("<graphml><graph/></graphml>", "c.graphml", "nobody knows anybody"),
        ('<graphml><graph><node id="a"/><edge source="a" target="b"/></graph></graphml>', "c.graphml",
         ":1: an edge to 'b'"),
        (
            '<graphml><key id="kind"/><graph><node id="a"><data key="kind">compartment</data></node></graph>'
            "</graphml>",
            "c.graphml",
            "'a' is a compartment; who has access to what belongs into access.file",
        ),
        ("ann,bob", "c.txt", "must end in .csv or .graphml"),
    ],
)  # fmt: skip
def test_a_broken_file(text: str, name: str, message: str, tmp_path: Path) -> None:
    config = config_of(LABS, colleagues={"generator": "imported", "file": write(tmp_path, text, name)})
    with pytest.raises(InputError) as caught:
        check_networks(config)
    assert any(message in told for told in caught.value.messages), caught.value.messages


def test_an_imported_graph_needs_a_file() -> None:
    with pytest.raises(InputError, match=r"needs colleagues\.file"):
        check_networks(config_of(LABS, colleagues={"generator": "imported"}))


@pytest.mark.parametrize("name", ["stochastic-block", "shared-access"])
def test_runs_differ_from_teams_in_what_people_fear_and_not_in_who_has_access(name: str) -> None:
    words = [
        "time.periods=60",
        "incidents.rate=8",
        "organizations.retaliation_probability=1",
        "employees.scale=0.2",
    ]
    teams = run(load_scenario("five-labs", mechanism="greedy", overrides=words))
    other = run(
        load_scenario("five-labs", mechanism="greedy", overrides=[*words, f"colleagues.generator={name}"])
    )
    assert other.tables["access"].equals(teams.tables["access"])
    assert len(teams.tables["retaliations"]) > 3
    assert not other.tables["series"]["fear"].equals(teams.tables["series"]["fear"])


@pytest.mark.parametrize("name", ["teams", "stochastic-block", "shared-access"])
def test_a_million_places_are_no_trouble(name: str) -> None:
    # nothing is stored per pair: a thousand people are asked for, each with colleagues of the own lab only
    labs = {"lab-a": lab(700_000, 5), "lab-b": lab(300_000, 5)}
    colleagues, _, _ = graph_of(labs=labs, generator=name, team_size=8, teams_per_department=10)
    asked = range(0, 1_000_000, 1000)
    circles = {slot: colleagues(slot) for slot in asked}
    for slot, circle in circles.items():
        assert slot not in circle
        assert ((circle < 700_000) == (slot < 700_000)).all()
    if name == "teams":
        assert {len(circle) for circle in circles.values()} == {7}
