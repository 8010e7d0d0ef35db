"""What a piece of code stands on: the hashes of the sources that it imports, and of those that they import.

The walk reads import statements and runs nothing. So what it finds depends on sources and search path, not on what a
process happens to have imported, and is the same in every process. Only what the search path does not lead to is
looked for among what has been imported.
"""

import hashlib
import pkgutil
import sys
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

from .distributions import distributions_of
from .import_statements import Wanted, wanted
from .provenance import LAYERS, PACKAGES

__all__ = ["DISTRIBUTION", "NOT_FOUND", "UNREADABLE", "imported_by_file", "imported_by_modules"]

NOT_FOUND = "not found"
UNREADABLE = "unreadable"
DISTRIBUTION = "distribution "
"""Prefix of the name of an installed distribution, which stands with its version."""


def imported_by_file(file: Path) -> dict[str, str]:
    """What a Python file imports, without the file itself: name to hash (SHA-256) or version.

    Left out are the standard library, the layers of `deniability` and packages whose versions every manifest has.

    Parameters
    ----------
    file
        A file that belongs to no package.
    """
    walk = _Walk("", "")
    walk.follow(_file_source(file).wanted, "", file.parent)
    # a file that looks for its neighbours finds itself too
    return {name: value for name, value in walk.all_found().items() if name != file.name}


def imported_by_modules(names: tuple[str, ...], distribution: str = "") -> dict[str, str]:
    """Modules and what they import: name to hash (SHA-256) or version, as `imported_by_file`.

    Parameters
    ----------
    names
        Full names of the modules.
    distribution
        Name of the distribution that brings them. Its sources count, even where they are installed for good: it
        may be built anew without a new version.
    """
    walk = _Walk(names[0].partition(".")[0], distribution)
    for name in names:
        walk.want(name)
    return walk.all_found()


class _Walk:
    """One walk.

    Parameters
    ----------
    top
        Top-level package whose sources count even where a version covers them.
    distribution
        Name of a distribution for which the same holds.
    """

    def __init__(self, top: str, distribution: str) -> None:
        self._top, self._distribution = top, distribution
        self._found: dict[str, str] = {}
        self._specs: dict[str, ModuleSpec | None] = {}
        self._waiting: list[str] = []
        self._seen: set[str] = set()

    def want(self, name: str) -> None:
        """Look at a module and at the packages around it, which are imported with it."""
        parts = name.split(".")
        self._waiting += [".".join(parts[:n]) for n in range(1, len(parts) + 1)]

    def all_found(self) -> dict[str, str]:
        """Follow everything to its end."""
        while self._waiting:
            name = self._waiting.pop()
            if name not in self._seen:
                self._seen.add(name)
                self._look_at(name)
        return dict(sorted(self._found.items()))

    def follow(self, more: Wanted, package: str, folder: Path) -> None:
        """Look at what a source imports, which is in a package, or else in a folder."""
        for other in more.modules:
            self.want(other)
        for other in more.perhaps:
            if not _is_known(other) and self._spec(other) is not None:
                self.want(other)
        for other in more.starred:
            self._want_below(other, deep=False)
        if more.unknown:
            # its own package, or its neighbours, are what it can be looking for
            if package:
                self._want_below(self._outermost(package), deep=True)
            else:
                self._add_neighbours(folder)

    def _look_at(self, name: str) -> None:
        if _is_known(name):
            return
        spec = self._spec(name)
        if spec is None and (file := getattr(sys.modules.get(name), "__file__", None)):
            # loaded all the same: who imported it had changed the search path, and has changed it back
            source = _file_source(Path(file))
            self._found[name] = source.value
            self.follow(source.wanted, "", Path(file).parent)
            return
        if spec is None:
            above = name.rpartition(".")[0]
            around = self._spec(above) if above else None
            # what a distribution lacks is told by its version
            if not above or (around is not None and not self._brought_by(around)):
                self._found[name] = NOT_FOUND
            return
        if not spec.has_location or spec.origin is None:
            return  # a namespace, which has no source, or a part of Python
        if brought := self._brought_by(spec):
            self._found |= {DISTRIBUTION + one: version for one, version in brought}
            return
        package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
        source = _source(spec.origin, package, spec.loader)
        self._found[name] = source.value
        self.follow(source.wanted, package, Path(spec.origin).parent)

    def _spec(self, name: str) -> ModuleSpec | None:
        """How a module would be found. `importlib.util.find_spec` would import the packages around it."""
        if name not in self._specs:
            above = name.rpartition(".")[0]
            path: list[str] | None = None
            if above:
                around = self._spec(above)
                path = _locations(around) if around is not None else []
            self._specs[name] = None if path == [] else _found_by_finders(name, path)
        return self._specs[name]

    def _brought_by(self, spec: ModuleSpec) -> tuple[tuple[str, str], ...]:
        """The distributions whose version covers a module."""
        if spec.origin is None or spec.name.partition(".")[0] == self._top:
            return ()
        depth = spec.name.count(".") + (spec.submodule_search_locations is not None)
        folders = Path(spec.origin).parents
        if depth >= len(folders):
            return ()
        brought = distributions_of(spec.name, folders[depth])
        return () if self._distribution in {name for name, _ in brought} else brought

    def _outermost(self, package: str) -> str:
        """The largest package around one that has a source, which a namespace has not."""
        parts = package.split(".")
        for n in range(1, len(parts)):
            spec = self._spec(".".join(parts[:n]))
            if spec is not None and spec.has_location:
                return ".".join(parts[:n])
        return package

    def _want_below(self, package: str, *, deep: bool) -> None:
        if _is_known(package) or (spec := self._spec(package)) is None or self._brought_by(spec):
            return
        for one in pkgutil.iter_modules(_locations(spec), f"{package}."):
            self.want(one.name)
            if deep and one.ispkg:
                self._want_below(one.name, deep=True)

    def _add_neighbours(self, folder: Path) -> None:
        for file in sorted(folder.glob("*.py")):
            if str(file) not in self._seen:
                self._seen.add(str(file))
                source = _file_source(file)
                self._found[file.name] = source.value
                self.follow(source.wanted, "", folder)


def _is_known(name: str) -> bool:
    """Whether a module is told otherwise: Python by its version, packages by theirs, our layers by the code hash."""
    parts = name.split(".")
    if parts[0] == "deniability":
        return len(parts) == 1 or parts[1] in LAYERS
    return parts[0] in sys.stdlib_module_names or parts[0] in PACKAGES or name == "__main__"


def _found_by_finders(name: str, path: list[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(name, path)
        except Exception:  # noqa: BLE001  # finders are foreign code, and another one may know it
            continue
        if spec is not None:
            return spec
    # a namespace that is not at the top is not found before what is around it has been imported
    folders = [
        str(folder) for place in path or () if (folder := Path(place, name.rpartition(".")[2])).is_dir()
    ]
    if not folders:
        return None
    namespace = ModuleSpec(name, None, is_package=True)
    namespace.submodule_search_locations = folders
    return namespace


def _locations(spec: ModuleSpec) -> list[str]:
    """Folders of a package; none of a module."""
    return list(spec.submodule_search_locations or ())


class _Source(NamedTuple):
    """A source: its hash, and what it imports."""

    value: str
    wanted: Wanted


_sources: dict[tuple[str, str], _Source] = {}


def _source(origin: str, package: str, loader: Any) -> _Source:
    """A source as this process saw it first: what was imported stays as it was when its file is edited later."""
    key = (origin, package)
    if key not in _sources:
        try:
            content = loader.get_data(origin)  # out of archives too
        except (AttributeError, OSError):
            _sources[key] = _Source(UNREADABLE, Wanted())
        else:
            is_text = origin.endswith(tuple(SOURCE_SUFFIXES))
            read = wanted(content, package) if is_text else Wanted()
            _sources[key] = _Source(hashlib.sha256(content).hexdigest(), read)
    return _sources[key]


def _file_source(file: Path) -> _Source:
    return _source(str(file), "", SourceFileLoader(file.stem, str(file)))
