"""What the import statements of a source ask for, read without running it."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["Wanted", "wanted"]

_BY_NAME = ("import_module", "__import__")
_BY_LOOKING = ("iter_modules", "walk_packages", "spec_from_file_location", "SourceFileLoader", "run_path")


@dataclass
class Wanted:
    """What a source imports.

    Attributes
    ----------
    modules
        Full names of modules.
    perhaps
        Full names of what may be modules, or else attributes of one: `a.b` of `from a import b`.
    starred
        Modules of which everything is imported, submodules that they list perhaps.
    unknown
        Whether it also imports what only running it would tell.
    """

    modules: set[str] = field(default_factory=set)
    perhaps: set[str] = field(default_factory=set)
    starred: set[str] = field(default_factory=set)
    unknown: bool = False


def wanted(source: bytes, package: str = "") -> Wanted:
    """Read the import statements of a source, those in functions and branches included, but not those for types only.

    Parameters
    ----------
    source
        Its bytes. One that is no valid Python imports nothing.
    package
        Full name of the package that it is in, to which relative imports refer; empty if it is in none.
    """
    found = Wanted()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        waiting += _inside(node)
        if isinstance(node, ast.Import):
            found.modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            _add_from(found, node, package)
        elif isinstance(node, ast.Call):
            _add_call(found, node)
    return found


def _inside(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
        return node.orelse
    return ast.iter_child_nodes(node)


def _name(node: ast.AST) -> str:
    """Last part of a name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _add_from(found: Wanted, node: ast.ImportFrom, package: str) -> None:
    name = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if package else []
        if not above:
            return  # beyond the top: it would fail
        name = ".".join([*above, *([name] if name else [])])
    found.modules.add(name)
    for alias in node.names:
        if alias.name == "*":
            found.starred.add(name)
        else:
            found.perhaps.add(f"{name}.{alias.name}")


def _add_call(found: Wanted, node: ast.Call) -> None:
    called = _name(node.func)
    if called in _BY_NAME:
        names = list(_literals(node))
        found.modules.update(names)
        found.unknown |= not names
    elif called in _BY_LOOKING:
        found.unknown = True


def _literals(node: ast.Call) -> Iterator[str]:
    """The name that a call is given, if it stands there and is absolute."""
    first = node.args[0] if node.args else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str) and not first.value.startswith("."):
        yield first.value
