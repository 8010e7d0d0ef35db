"""Access graphs that are drawn: their breadth and concentration against exact laws, and what they depend on.

Statistical tests use fixed seeds; each would fail by chance once in about 10,000 seeds (`RISK`), and has a negative
control: the same test rejects a world that is wrong by a little.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from deniability.scenarios import InputError
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.world.access import GENERATORS, Access, access_from_networkx
from deniability.simulation.world.anonymity import anonymity_sets, anonymity_summary
from deniability.simulation.world.layout import Layout

from .world_makers import config_of, drawn, lab

RISK = 1e-4
DRAWN = ("need-to-know", "team-based", "open")


def world(
    headcount: int, compartments: int, team_size: int = 8, seed: int = 1, **access: Any
) -> tuple[Layout, Access]:
    """One lab with one target and many compartments."""
    return drawn(
        config_of(
            {"lab-a": lab(headcount)},
            access={"compartments_per_target": compartments, **access},
            colleagues={"team_size": team_size},
        ),
        seed,
    )


def rounded_lognormal(sizes: Any, median: float, sigma: float) -> float:
    """p-value of the sizes under round(exp(N(ln median, sigma²))), by a chi-square over classes of 5 % each."""
    edges = np.unique(np.rint(np.exp(np.log(median) + sigma * stats.norm.ppf(np.arange(0.05, 1.0, 0.05)))))
    cdf = stats.norm.cdf((np.log(edges + 0.5) - np.log(median)) / sigma)
    expected = np.diff(np.concatenate([[0.0], cdf, [1.0]])) * len(sizes)
    observed = np.bincount(np.searchsorted(edges, sizes), minlength=len(edges) + 1)
    return float(stats.chisquare(observed, expected).pvalue)


def z_value(sample: Any, expected: float) -> float:
    """Distance of a sample's mean from what is expected, in standard errors."""
    sample = np.asarray(sample, dtype=float)
    return float((sample.mean() - expected) / (sample.std(ddof=1) / np.sqrt(len(sample))))


LIMIT = float(stats.norm.isf(RISK / 2))


def test_the_registry_has_the_generators_by_their_names() -> None:
    assert list(GENERATORS) == ["need-to-know", "team-based", "open", "imported", "fitted"]
    assert all(cls.name == name for name, cls in GENERATORS.items())


# ---- breadth ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("median", "sigma"), [(8.0, 0.8), (20.0, 0.8), (45.0, 0.4)])
def test_need_to_know_has_log_normal_breadth_with_the_given_median(median: float, sigma: float) -> None:
    _, access = world(20_000, 2500, median_access=median, access_sigma=sigma)
    assert rounded_lognormal(access.sizes, median, sigma) > RISK
    assert abs(np.median(access.sizes) / median - 1) < 4 * 1.2533 * sigma / np.sqrt(2500) + 0.5 / median
    # negative controls: a median or a spread that is off by a tenth
    assert rounded_lognormal(access.sizes, median * 1.15, sigma) < RISK
    assert rounded_lognormal(access.sizes, median, sigma * 1.15) < RISK


def test_breadth_is_within_one_and_the_headcount() -> None:
    _, access = world(30, 2000, median_access=10.0, access_sigma=2.0)
    assert (access.sizes.min(), access.sizes.max()) == (1, 30)


def test_crossing_teams_changes_who_has_access_but_not_how_many() -> None:
    sizes = [world(3000, 200, cross_team=c)[1].sizes for c in (0.0, 0.2, 1.0)]
    assert np.array_equal(sizes[0], sizes[1])
    assert np.array_equal(sizes[1], sizes[2])


def test_team_based_takes_whole_teams_nearest_to_a_log_normal_number() -> None:
    layout, access = world(16_000, 3000, generator="team-based", median_access=40.0, access_sigma=0.5)
    for members in access.members:
        teams = np.unique(layout.teams.team_of(members))
        assert np.array_equal(layout.teams.places_of(teams), members)
    n_teams = access.sizes // 8
    assert rounded_lognormal(n_teams, 5.0, 0.5) > RISK
    assert rounded_lognormal(n_teams, 5.5, 0.5) < RISK


def test_team_based_has_at_least_one_team_and_at_most_all() -> None:
    _, access = world(20, 300, generator="team-based", median_access=5.0, access_sigma=2.0)
    assert set(access.sizes.tolist()) <= {4, 8, 12, 16, 20}  # the last of the three teams has four places
    assert {8, 20} <= set(access.sizes.tolist())


def test_open_gives_everything_to_everybody_of_the_lab_and_stores_it_once() -> None:
    config = config_of(
        {"lab-a": lab(10, 2), "lab-b": lab(7)}, access={"generator": "open", "compartments_per_target": 3}
    )
    layout, access = drawn(config)
    assert access.sizes.tolist() == [10] * 6 + [7] * 3
    assert access.members[0].tolist() == list(range(10))
    assert access.members[8].tolist() == list(range(10, 17))
    assert len({id(members) for members in access.members}) == 2
    assert layout.compartments_of_target.tolist() == [3, 3, 3]


# ---- concentration in teams ---------------------------------------------------------------------------------------


def expected_teams(size: int, cross: float, headcount: int, team_size: int) -> float:
    """Mean number of teams of those with access, if nobody's teams are too small.

    The teams are those of 1 + Binomial(size - 1, cross) people who are picked evenly from the lab.
    """
    n = np.arange(1, size + 1)
    weight = stats.binom.pmf(n - 1, size - 1, cross)
    missed = stats.hypergeom.pmf(0, headcount, team_size, n)  # no one of n is of a given team
    return float(headcount / team_size * np.sum(weight * (1.0 - missed)))


@pytest.mark.parametrize("cross", [0.1, 0.2, 0.5, 1.0])
def test_access_is_concentrated_in_as_many_teams_as_the_parameter_says(cross: float) -> None:
    layout, access = world(3000, 3000, team_size=30, median_access=20.0, access_sigma=0.0, cross_team=cross)
    teams = anonymity_sets(access, layout)["teams"]
    assert abs(z_value(teams, expected_teams(20, cross, 3000, 30))) < LIMIT
    # negative control: a share that is off by 0.03
    assert abs(z_value(teams, expected_teams(20, cross - 0.03, 3000, 30))) > LIMIT


def same_team_pairs(layout: Layout, access: Access) -> list[int]:
    """Pairs of people with access who are of one team, by compartment."""
    pairs = []
    for members in access.members:
        number = np.bincount(layout.teams.team_of(members))
        pairs.append(int((number * (number - 1) // 2).sum()))
    return pairs


def test_crossing_always_takes_no_notice_of_teams() -> None:
    # of all pairs, (team_size - 1) / (headcount - 1) are of one team
    size, expected = 30, 30 * 29 / 2 * 7 / 399
    layout, access = world(400, 1500, median_access=float(size), access_sigma=0.0, cross_team=1.0)
    assert abs(z_value(same_team_pairs(layout, access), expected)) < LIMIT
    layout, access = world(400, 1500, median_access=float(size), access_sigma=0.0, cross_team=0.95)
    assert abs(z_value(same_team_pairs(layout, access), expected)) > LIMIT  # negative control


@pytest.mark.parametrize(("size", "teams"), [(1, 1), (7, 1), (8, 1), (9, 2), (24, 3), (25, 4), (80, 10)])
def test_crossing_never_fills_teams_one_by_one(size: int, teams: int) -> None:
    layout, access = world(80, 50, median_access=float(size), access_sigma=0.0, cross_team=0.0)
    table = anonymity_sets(access, layout)
    assert table["anonymity_set"].tolist() == [size] * 50
    assert table["teams"].tolist() == [teams] * 50


def test_places_are_equally_likely() -> None:
    _, access = world(50, 3000, median_access=1.0, access_sigma=0.0)
    count = np.bincount(np.concatenate(access.members), minlength=50)
    assert stats.chisquare(count).pvalue > RISK
    # the last team has but two places; whoever is picked brings the team along, but is picked as others are
    _, access = world(50, 500, median_access=8.0, access_sigma=0.0, cross_team=0.2)
    first_team = [int((members < 8).any()) for members in access.members]
    last_team = [int((members >= 48).any()) for members in access.members]
    assert np.mean(first_team) > 2 * np.mean(last_team)


@pytest.mark.parametrize("generator", DRAWN)
@pytest.mark.parametrize("headcount", [1, 2, 9])
def test_the_smallest_labs(generator: str, headcount: int) -> None:
    layout, access = world(headcount, 20, generator=generator)
    for members in access.members:
        assert 1 <= len(members) <= headcount
        assert np.all(np.diff(members) > 0)
        assert members[0] >= 0
        assert members[-1] < headcount
    assert layout.teams.team_start[-1] == headcount


@pytest.mark.parametrize("generator", ["need-to-know", "team-based"])
def test_what_is_public_is_the_law_of_the_sizes(generator: str) -> None:
    layout, access = world(4000, 3000, generator=generator, median_access=30.0)
    public = layout.public_sizes(np.zeros(3000, dtype=np.int64), KeyedDraws(7).generator("public"))
    assert stats.ks_2samp(access.sizes, public).pvalue > RISK
    assert stats.ks_2samp(access.sizes, np.rint(public * 1.3)).pvalue < RISK  # negative control


def test_what_is_public_is_each_labs_own() -> None:
    config = config_of(
        {
            "lab-a": lab(10, 2) | {"access": {"generator": "open"}},
            "lab-b": lab(500) | {"access": {"median_access": 50.0, "access_sigma": 0.0}},
        }
    )
    sizes = Layout.of(config).public_sizes(np.array([2, 0, 1, 2]), KeyedDraws(1).generator("x"))
    assert sizes.tolist() == [50, 10, 10, 50]


# ---- what a graph depends on --------------------------------------------------------------------------------------


def graphs(config: Any, seed: int = 1) -> dict[str, list[list[int]]]:
    """Who has access to each target's compartments, counted from the lab's first place."""
    layout, access = drawn(config, seed)
    found: dict[str, list[list[int]]] = {name: [] for name in layout.target_names}
    for members, target, owner in zip(access.members, access.target, access.lab, strict=True):
        found[layout.target_names[target]].append((members - layout.first_slot[owner]).tolist())
    return found


BASE = {"lab-a": lab(300, 3), "lab-b": lab(200, 2)}


@pytest.mark.parametrize("generator", ["need-to-know", "team-based"])
def test_the_graph_depends_on_seed_lab_and_compartment_alone(generator: str) -> None:
    def graph(
        labs: dict[str, Any] = BASE, seed: int = 1, per_target: int = 2, **other: Any
    ) -> dict[str, Any]:
        access = {"generator": generator, "compartments_per_target": per_target}
        return graphs(config_of(labs, access=access, **other), seed)

    base = graph()
    assert graph() == base
    assert graph(seed=2) != base
    other = graph(auditor={"mechanism": "greedy", "delta": 0.3}, incidents={"rate": 9.0}, time={"periods": 5})
    assert other == base
    # another lab before it, more places there, more targets there
    for labs in ({"lab-c": lab(77, 4)} | BASE, BASE | {"lab-a": lab(999, 5)}, {"lab-b": BASE["lab-b"]}):
        changed = graph(labs)
        assert {name: changed[name] for name in changed if name.startswith("lab-b/")} == {
            name: base[name] for name in base if name.startswith("lab-b/")
        }
    # targets in another order, and more compartments each
    swapped = graph(BASE | {"lab-a": lab(300) | {"targets": ["t2", "t0", "t1"]}})
    assert swapped == {name: base[name] for name in swapped}
    more = graph(per_target=5)
    assert all(more[name][:2] == base[name] for name in base)


def test_compartments_and_labs_differ() -> None:
    found = graphs(
        config_of({"lab-a": lab(300, 2), "lab-b": lab(300, 2)}, access={"compartments_per_target": 2})
    )
    assert len({str(members) for target in found.values() for members in target}) == 8


# ---- networkx, and anonymity sets ---------------------------------------------------------------------------------


def test_to_networkx_and_back_is_the_same_graph() -> None:
    _, access = drawn(config_of(BASE, access={"median_access": 6.0}))
    again = access_from_networkx(access.to_networkx())
    assert np.array_equal(again.target, access.target)
    assert np.array_equal(again.lab, access.lab)
    assert [m.tolist() for m in again.members] == [m.tolist() for m in access.members]


def test_networkx_graphs_that_are_no_access_graphs() -> None:
    import networkx as nx

    with pytest.raises(InputError, match="bipartite = None: must be 0 or 1"):
        access_from_networkx(nx.path_graph(3))
    graph = nx.Graph([("a", "b")])
    nx.set_node_attributes(graph, 0, "bipartite")
    with pytest.raises(InputError, match="an edge between two employees, 'a' and 'b'"):
        access_from_networkx(graph)
    graph = nx.Graph()
    graph.add_nodes_from("ab", bipartite=0, slot=3)
    with pytest.raises(InputError, match="slot"):
        access_from_networkx(graph)


def test_anonymity_sets_are_counted() -> None:
    layout, access = drawn(config_of(BASE, access={"compartments_per_target": 2}))
    table = anonymity_sets(access, layout)
    assert table["anonymity_set"].tolist() == [len(m) for m in access.members]
    for row, members in zip(table.itertuples(), access.members, strict=True):
        assert row.teams == len(set(layout.teams.team_of(members).tolist()))
        assert row.departments == len(set(layout.teams.department_of(members).tolist()))
    edges = pd.DataFrame(
        {"person": np.concatenate(access.members), "lab": np.repeat(access.lab, access.sizes)}
    )
    summary = anonymity_summary(table, edges)
    sizes = table.loc[table["lab"] == 1, "anonymity_set"]
    own = [m for m, owner in zip(access.members, access.lab, strict=True) if owner == 1]
    assert summary["1"] == {
        "compartments": 4,
        "smallest": sizes.min(),
        "median": sizes.median(),
        "largest": sizes.max(),
        "below_5": (sizes < 5).sum(),
        "people_with_access": len(set(np.concatenate(own).tolist())),
    }
