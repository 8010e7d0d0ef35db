"""The walls: dependencies point one way, nothing imports a bare layer, every folder says what it is for."""

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("scenarios", "agents", "analysis", "simulation")
MODULES = sorted(p for layer in LAYERS for p in (ROOT / layer).rglob("*.py"))


def imported(path: Path, root: Path = ROOT) -> set[str]:
    """Dotted names below the root that a module imports, `agents.ports` for instance, type-checking included."""
    package = path.relative_to(root).parent.parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            stem = (*base, *(node.module.split(".") if node.module else ()))
            found.add(".".join(stem))
            found.update(".".join((*stem, alias.name)) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def layer_of(name: str) -> str:
    parts = name.split(".")
    return parts[1] if parts[0] == "deniability" and len(parts) > 1 else parts[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_point_downwards(path):
    own = LAYERS.index(path.relative_to(ROOT).parts[0])
    upwards = {n for n in imported(path) if layer_of(n) in LAYERS[own + 1 :]}
    assert not upwards


@pytest.mark.parametrize(
    "path", MODULES + sorted((ROOT / "tests").rglob("*.py")), ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_no_bare_or_absolute_layer_imports(path):
    # another package installs a top-level `agents`; and inside a layer imports are relative
    absolute = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            absolute.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            absolute.add(str(node.module))
    assert not {n for n in absolute if n.split(".")[0] in LAYERS}
    if path.is_relative_to(ROOT / "tests"):
        return
    assert not {n for n in absolute if n.split(".")[0] == "deniability"}


@pytest.mark.parametrize(
    "text",
    ["from ...simulation import draws", "from ... import simulation", "import deniability.simulation.draws"],
)
def test_the_import_reader_sees_an_upward_import(tmp_path, text):
    # negative control: a planted upward import must be seen in every spelling
    file = tmp_path / "agents" / "auditor" / "planted.py"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    assert "simulation" in {layer_of(name) for name in imported(file, tmp_path)}


def test_no_import_cycles():
    names = {
        ".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in MODULES
    }
    graph = {name: {n for n in imported(path) if n in names and n != name} for name, path in names.items()}
    # a package's __init__ re-exports its modules, and its modules may import the package's other modules: what counts
    # is the order in which modules can be executed, so an import of a package is an import of its __init__ only
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize(
    "folder", sorted({p.parent for p in MODULES}), ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_every_folder_says_what_it_is_for(folder):
    source = (folder / "__init__.py").read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source))
