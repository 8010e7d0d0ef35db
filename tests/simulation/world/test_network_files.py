"""Networks from files: what is written reads back the same, and whatever is wrong gets its own message."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniability.scenarios import InputError
from deniability.simulation.world.network import Network, Side
from deniability.simulation.world.network_files import read_network, write_network
from deniability.simulation.world.network_networkx import network_from_networkx

ids = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zs", "Zl", "Zp"]), min_size=1, max_size=6)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Sound networks: every compartment has somebody, some people have access to nothing."""
    names = draw(st.lists(ids, min_size=2, max_size=12, unique=True))
    n_people = draw(st.integers(1, len(names) - 1))
    people, things = names[:n_people], names[n_people:]
    edges = [
        (person, thing)
        for thing in range(len(things))
        for person in sorted(draw(st.sets(st.integers(0, n_people - 1), min_size=1)))
    ]
    order = draw(st.permutations(edges))

    def side(names: list[str], attributes: tuple[str, ...]) -> Side:
        columns = {
            name: tuple(draw(st.lists(ids | st.just(""), min_size=len(names), max_size=len(names))))
            for name in attributes
        }
        return Side(tuple(names), columns).without_blank_attributes()

    ends = np.array(order, dtype=np.int64)
    return Network(
        "made",
        side(people, ("lab", "department", "team")),
        side(things, ("lab", "target")),
        ends[:, 0],
        ends[:, 1],
    )


def content(network: Network) -> Any:
    """All of a network but its label."""
    sides = [(side.ids, side.attributes) for side in (network.employees, network.compartments)]
    return sides, network.employee.tolist(), network.compartment.tolist()


ROUND_TRIP = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@ROUND_TRIP
@given(network=networks())
def test_csv_reads_back_the_same(network: Network, tmp_path: Path) -> None:
    edges, nodes = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    write_network(network, edges, nodes)
    assert content(read_network(str(edges), str(nodes))) == content(network)


@ROUND_TRIP
@given(network=networks())
def test_graphml_reads_back_the_same_and_networkx_reads_it_too(network: Network, tmp_path: Path) -> None:
    path = tmp_path / "graph.graphml"
    write_network(network, path)
    assert content(read_network(str(path))) == content(network)
    theirs = nx.read_graphml(path)
    assert nx.utils.graphs_equal(nx.Graph(theirs.edges()), nx.Graph(network.to_networkx().edges()))
    assert {n: d["bipartite"] for n, d in theirs.nodes(data=True)} == {
        n: d["bipartite"] for n, d in network.to_networkx().nodes(data=True)
    }


@ROUND_TRIP
@given(network=networks())
def test_networkx_and_back_is_the_same_graph(network: Network, tmp_path: Path) -> None:
    again = network_from_networkx(network.to_networkx())
    assert content(again)[0] == content(network)[0]
    assert set(zip(*content(again)[1:], strict=True)) == set(zip(*content(network)[1:], strict=True))
    # and through a file that networkx writes
    path = tmp_path / "theirs.graphml"
    nx.write_graphml(network.to_networkx(), path)
    theirs = read_network(str(path))
    assert content(theirs)[0] == content(network)[0]


@pytest.fixture
def reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Network]:
    """Read a network from this text (or these bytes)."""
    monkeypatch.chdir(tmp_path)

    def read(text: str | bytes, name: str = "g.csv", nodes: str = "") -> Network:
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
        if nodes:
            Path("n.csv").write_text(nodes)
        return read_network(name, "n.csv" if nodes else "")

    return read


HEAD = "employee,compartment\n"
NODES = "node,kind,department\nann,employee,d1\nbob,employee,d2\nx,compartment,\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "g.csv: empty: it needs a header with the columns employee, compartment"),
        (" \n\n", "g.csv: empty: it needs a header with the columns employee, compartment"),
        (HEAD, "g.csv: nobody has access to anything: there are no edges"),
        ("employee\nann\n", "g.csv:1: the column compartment is missing; the header has 'employee'"),
        (
            "employee;compartment\nann;x\n",
            "g.csv:1: the header is 'employee;compartment': columns must be separated by commas",
        ),
        (
            "employee,compartment,departement\nann,x,d\n",
            "g.csv:1: unknown column 'departement'; did you mean department?",
        ),
        ("employee,compartment,employee\nann,x,y\n", "g.csv:1: the column 'employee' is there twice"),
        (HEAD + "ann,x\nbob\n", "g.csv:3: 1 cells, while the header has 2"),
        (HEAD + "ann,x,y\n", "g.csv:2: 3 cells, while the header has 2"),
        (HEAD + "ann,x\n,x\n", "g.csv:3: employee: empty"),
        (HEAD + "ann,x\nbob, \n", "g.csv:3: compartment: empty"),
        (HEAD + 'ann,x\n"b\nb",x\n', "g.csv:4: employee: holds a control character or a line break"),
        (HEAD + 'ann,"x\n', "g.csv:2: not valid CSV: unexpected end of data"),
        (
            HEAD + "ann,x\nbob,x\n\nann,x\n",
            "g.csv:5: a second edge between employee 'ann' and compartment 'x'; the first is in line 2",
        ),
        (
            HEAD + "ann,x\nbob,ann\n",
            "g.csv:3: an edge between two employees, 'bob' and 'ann': 'ann' stands under employee elsewhere; who "
            "knows whom belongs into colleagues.file",
        ),
        (
            "employee,compartment,team\nann,x,t1\nann,y,t2\n",
            "g.csv:3: employee 'ann': team 't2', but 't1' before",
        ),
        (HEAD.encode() + b"ann,x\nj\xfcrgen,x\n", "g.csv:3: not UTF-8 (byte 0xfc); save it as UTF-8"),
        ("employee,compartment\nann,x\n".encode("utf-16"), "g.csv: UTF-16; save it as UTF-8"),
        (HEAD + "ann,x\0\n", "g.csv:2: contains a null byte, so it is no text file"),
    ],
)
def test_a_broken_list_of_edges(text: str | bytes, message: str, reading: Callable[..., Network]) -> None:
    with pytest.raises(InputError) as caught:
        reading(text)
    assert caught.value.messages == (message,)


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        (
            HEAD + "ann,x\nbobb,x\n",
            NODES,
            "g.csv:3: unknown employee 'bobb': not in n.csv; did you mean bob?",
        ),
        (HEAD + "ann,z\n", NODES, "g.csv:2: unknown compartment 'z': not in n.csv"),
        (HEAD + "x,ann\n", NODES, "g.csv:2: unknown employee 'x': not in n.csv"),
        (HEAD + "ann,x\n", NODES + "y,compartment,\n", "g.csv: nobody has access to compartment 'y'"),
        (HEAD + "ann,x\n", NODES + "ann,employee,\n", "n.csv:5: 'ann' a second time; the first is in line 2"),
        (
            HEAD + "ann,x\n",
            NODES + "z,robot,\n",
            "n.csv:5: kind = 'robot': must be employee or compartment",
        ),
        (HEAD + "ann,x\n", NODES + ",employee,\n", "n.csv:5: node: empty"),
        (
            HEAD + "ann,x\n",
            "node,department\nann,d\n",
            "n.csv:1: the column kind is missing; the header has 'node', 'department'",
        ),
        (
            "employee,compartment,department\nann,x,d9\n",
            NODES,
            "g.csv: employee 'ann': department 'd9', but 'd1' in n.csv",
        ),
    ],
)
def test_a_broken_list_of_nodes(
    edges: str, nodes: str, message: str, reading: Callable[..., Network]
) -> None:
    with pytest.raises(InputError) as caught:
        reading(edges, nodes=nodes)
    assert caught.value.messages == (message,)


def graphml(body: str, keys: str = "") -> str:
    keys = keys or '<key id="b" for="node" attr.name="bipartite" attr.type="long"/>'
    return (
        '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        f"{keys}<graph>\n{body}\n</graph></graphml>"
    )


ANN = '<node id="ann"><data key="b">0</data></node>'
BOB = '<node id="bob"><data key="b">0</data></node>'
X = '<node id="x"><data key="b">1</data></node>'
EDGE = '<edge source="ann" target="x"/>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "g.graphml: empty"),
        ("<graphml><graph>", "g.graphml:1:17: not well-formed XML: no element found"),
        ("<graphml>\n<graph></graphml>", "g.graphml:2:10: not well-formed XML: mismatched tag"),
        ("employee,compartment", "g.graphml:1:1: not well-formed XML: syntax error"),
        ("<gexf/>", "g.graphml:1: not GraphML: it begins with <gexf>"),
        (b'<?xml version="1.0" encoding="utf-8"?><graphml>\xff</graphml>', "not well-formed XML"),
        (b'<?xml version="1.0" encoding="klingon"?><graphml/>', "g.graphml"),
        (graphml(""), "g.graphml: nobody has access to anything: there are no edges"),
        (graphml(ANN + X), "g.graphml: nobody has access to anything: there are no edges"),
        (graphml(ANN + ANN), "g.graphml:3: a second node 'ann'"),
        (graphml("<node/>"), "g.graphml:3: the id of a node is empty"),
        (graphml(ANN + X + '<edge source="ann"/>'), "g.graphml:3: an edge without target"),
        (graphml(ANN + BOB + X + EDGE + "\n" + '<edge source="bob" target="ann"/>'),
         "g.graphml:4: an edge between two employees, 'bob' and 'ann': access joins an employee and a "
         "compartment; who knows whom belongs into colleagues.file"),
        (graphml(ANN + X + X.replace('"x"', '"y"') + EDGE + '<edge source="x" target="y"/>'),
         "g.graphml:3: an edge between two compartments, 'x' and 'y': access joins one and an employee"),
        (graphml(ANN + X + EDGE + '<edge source="anne" target="x"/>'),
         "g.graphml:3: an edge to 'anne', which is no node; did you mean ann?"),
        (graphml(ANN + X + EDGE + "\n" + '<edge source="x" target="ann"/>'),
         "g.graphml:4: a second edge between employee 'ann' and compartment 'x'; the first is in line 3"),
        (graphml(ANN + X + X.replace('"x"', '"y"') + EDGE), "g.graphml: nobody has access to compartment 'y'"),
        (graphml('<node id="ann"/>' + X + EDGE),
         "g.graphml: node 'ann': neither kind (employee, compartment) nor bipartite (0, 1) says what it is"),
        (graphml(ANN + '<node id="x"><data key="b">2</data></node>' + EDGE),
         "g.graphml: node 'x': bipartite = '2': must be 0 (employee) or 1 (compartment)"),
        (graphml(ANN + X.replace('"b"', '"kind"').replace("1<", "team<") + EDGE,
                 '<key id="b" for="node" attr.name="bipartite"/><key id="kind" for="node" attr.name="kind"/>'),
         "g.graphml: node 'x': kind = 'team': must be employee or compartment"),
        (graphml(ANN + X + EDGE + "</graph><graph>"), "g.graphml:3: a second graph; one is wanted"),
        (graphml(ANN + X + "<hyperedge/>"),
         "g.graphml:3: a <hyperedge>; only nodes and edges between two are understood"),
        ('<!DOCTYPE g [<!ENTITY a "b">]><graphml/>', "g.graphml:1: declares an entity; plain GraphML has none"),
    ],
)  # fmt: skip
def test_a_broken_graphml(text: str | bytes, message: str, reading: Callable[..., Network]) -> None:
    with pytest.raises(InputError) as caught:
        reading(text, "g.graphml")
    (told,) = caught.value.messages
    assert message in told
    assert told.startswith("g.graphml")


def test_paths_that_are_no_network_files(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for path, nodes, message in (
        (tmp_path / "folder.csv", "", "a directory; name a file in it"),
        (tmp_path / "nowhere.csv", "", "no such file"),
        (tmp_path / "graph.txt", "", "the name of a network file must end in .csv or .graphml"),
        (
            tmp_path / "g.graphml",
            "n.csv",
            "access.nodes_file goes with a .csv; GraphML has its own attributes",
        ),
        (tmp_path / "g.csv", "n.graphml", "access.nodes_file must be a .csv"),
    ):
        with pytest.raises(InputError, match=message):
            read_network(str(path), nodes)


def test_what_a_list_of_edges_may_look_like(reading: Callable[..., Network]) -> None:
    plain = reading(HEAD + "ann,x\nbob,x\n")
    assert (plain.employees.ids, plain.compartments.ids) == (("ann", "bob"), ("x",))
    for other in (
        "\ufeff" + HEAD + "ann,x\nbob,x\n",
        (HEAD + "ann,x\nbob,x\n").replace("\n", "\r\n"),
        "Compartment , EMPLOYEE,weight\nx, ann,3\nx,bob ,\n",
        HEAD + 'ann,"x"\n\nbob,x',
    ):
        assert content(reading(other)) == content(plain)


def test_attributes_come_with_edges_or_nodes(reading: Callable[..., Network]) -> None:
    with_edges = reading("employee,compartment,department,target\nann,x,d1,t\nbob,x,d2,\n")
    nodes = "node,kind,department,target\nann,employee,d1,\nbob,employee,d2,\nx,compartment,,t\n"
    with_nodes = reading(HEAD + "ann,x\nbob,x\n", nodes=nodes)
    assert content(with_edges) == content(with_nodes)
    assert with_edges.employees.of("department") == ("d1", "d2")
    assert with_edges.compartments.of("target") == ("t",)


def test_igraphs_numbers_and_defaults_of_keys(reading: Callable[..., Network]) -> None:
    keys = (
        '<key id="b" for="node" attr.name="bipartite" attr.type="double"><default>0.0</default></key>'
        '<key id="w" for="edge" attr.name="kind"><default>3</default></key>'
    )
    edge = '<edge source="x" target="ann"><data key="w">2</data></edge>'
    network = reading(graphml(edge + '<node id="ann"/>' + X.replace("1<", "1.0<"), keys), "g.graphml")
    assert content(network)[1:] == ([0], [0])
    assert network.employees.ids == ("ann",)


def test_many_mistakes_make_ten_messages_and_a_count(reading: Callable[..., Network]) -> None:
    with pytest.raises(InputError) as caught:
        reading(HEAD + "ann,x\n" * 33)
    assert len(caught.value.messages) == 11
    assert caught.value.messages[-1] == "g.csv: and 22 more of these"


def test_an_unchanged_file_is_read_once_and_a_changed_one_again(reading: Callable[..., Network]) -> None:
    first = reading(HEAD + "ann,x\n")
    assert read_network("g.csv") is first
    assert reading(HEAD + "ann,x\nbob,x\n").n_edges == 2


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "graphml"])
def test_a_million_edges_come_back_as_they_were(suffix: str, tmp_path: Path) -> None:
    n_people, n_edges = 100_000, 1_000_000
    key = np.random.default_rng(1).choice(n_people * 5000, size=n_edges, replace=False)
    key = np.unique(np.concatenate([key, np.arange(5000)]))  # everything known to somebody
    network = Network(
        "big",
        Side(tuple(f"person-{n}" for n in range(n_people))),
        Side(tuple(f"matter-{n}" for n in range(5000))),
        key // 5000,
        key % 5000,
    )
    path, nodes = tmp_path / f"big.{suffix}", tmp_path / "nodes.csv"
    write_network(network, path, nodes if suffix == "csv" else None)
    again = read_network(str(path), str(nodes) if suffix == "csv" else "")
    assert again.n_edges == len(key)
    assert np.array_equal(again.employee, network.employee)
