"""Registries: find by name the classes that implement an interface. Made from the classes themselves.

A class belongs to a registry if it is a concrete subclass of the registry's interface, has an `id`, and
stands in

- a module of the registry's package (found by looking, so there is no list to keep),
- a distribution that is installed and declares it in the registry's entry-point group, or
- a file that the user loaded with `load_plugin`.
"""

import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from hashlib import blake2b, sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from ..scenarios.errors import InputError

__all__ = ["Registry", "load_plugin", "loaded_plugins", "plugin_hashes"]

_plugins: dict[Path, ModuleType] = {}
_hashes: dict[Path, str] = {}


class Registry[T]:
    """The classes that implement one interface, by their `id`.

    Parameters
    ----------
    kind
        What the classes are called in messages, such as "mechanism".
    interface
        The abstract base class.
    package
        Name of the package whose modules hold the built-in classes.
    group
        Entry-point group through which installed distributions join.

    Examples
    --------
    >>> from deniability.agents.auditor.mechanisms import MECHANISMS
    >>> MECHANISMS["greedy"].id
    'greedy'
    >>> MECHANISMS["gredy"]
    Traceback (most recent call last):
    ...
    deniability.scenarios.errors.InputError: unknown mechanism 'gredy': did you mean 'greedy'? ...
    """

    def __init__(self, kind: str, interface: type, package: str, group: str) -> None:
        self.kind = kind
        self.interface = interface
        self.package = package
        self.group = group
        self._found: dict[str, type[T]] = {}
        self._entries: dict[str, EntryPoint] = {}
        self._n_plugins = -1

    def __getitem__(self, name: str) -> type[T]:
        """Class of the given `id`.

        Raises
        ------
        InputError
            If there is none, with the name that was probably meant, or if a plugin cannot be used.
        """
        classes = self._classes()
        if name in classes:
            return classes[name]
        near = get_close_matches(str(name), classes, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(f"unknown {self.kind} {name!r}: {hint}there are {', '.join(classes)}")

    def __contains__(self, name: object) -> bool:
        return name in self._classes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes())

    def __len__(self) -> int:
        return len(self._classes())

    def names(self) -> tuple[str, ...]:
        """All ids, in alphabetical order."""
        return tuple(self._classes())

    def installed(self) -> dict[str, EntryPoint]:
        """The entry points through which installed distributions have joined, by the `id` of the class."""
        self._classes()
        return dict(self._entries)

    def _classes(self) -> dict[str, type[T]]:
        if self._n_plugins != len(_plugins):
            found: dict[str, type[T]] = {}
            installed = list(self._installed())
            self._entries = {cls.id: entry for entry, cls in installed}  # type: ignore[attr-defined]
            for cls in (*self._built_in(), *(cls for _, cls in installed), *self._loaded()):
                name = cls.id  # type: ignore[attr-defined]  # `_belongs` has looked
                if found.setdefault(name, cls) is not cls:
                    raise InputError(
                        f"two {self.kind}s are called {name!r}: {_where(found[name])} and {_where(cls)}"
                    )
            self._found = dict(sorted(found.items()))
            self._n_plugins = len(_plugins)
        return self._found

    def _belongs(self, thing: object) -> bool:
        return (
            inspect.isclass(thing)
            and issubclass(thing, self.interface)
            and not inspect.isabstract(thing)
            and isinstance(getattr(thing, "id", None), str)
        )

    def _defined_in(self, module: ModuleType) -> Iterator[type[T]]:
        for thing in vars(module).values():
            if self._belongs(thing) and thing.__module__ == module.__name__:
                yield thing

    def _built_in(self) -> Iterator[type[T]]:
        package = importlib.import_module(self.package)
        for found in pkgutil.iter_modules(package.__path__):
            yield from self._defined_in(importlib.import_module(f"{self.package}.{found.name}"))

    def _installed(self) -> Iterator[tuple[EntryPoint, type[T]]]:
        for entry in entry_points(group=self.group):
            try:
                thing = entry.load()
            except (Exception, SystemExit) as error:
                raise InputError(
                    f"entry point {entry.name} = {entry.value} cannot be loaded: {error}"
                ) from error
            if not self._belongs(thing):
                raise InputError(
                    f"entry point {entry.name} = {entry.value} of {self.group} is no concrete "
                    f"{self.interface.__name__} class with an id"
                )
            yield entry, cast("type[T]", thing)

    def _loaded(self) -> Iterator[type[T]]:
        for module in _plugins.values():
            yield from self._defined_in(module)


def _where(cls: Any) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def load_plugin(path: str | Path) -> ModuleType:
    """Run a Python file and let its classes join every registry whose interface they implement.

    Loading the same file again does nothing. A worker process has to load the files of `loaded_plugins`
    itself.

    Parameters
    ----------
    path
        A Python file. It is code and runs with the user's rights, which is why no scenario file can name one.

    Raises
    ------
    InputError
        If the file does not exist, is no Python file or fails.
    """
    file = Path(path).resolve()
    if file in _plugins:
        return _plugins[file]
    if not file.is_file():
        raise InputError(f"plugin {path}: there is no such file")
    # two files of one name stay apart, and classes can be pickled within the process
    name = f"deniability_plugin_{blake2b(os.fsencode(file), digest_size=8).hexdigest()}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"plugin {path}: not a Python file (its name should end in .py)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        digest = sha256(file.read_bytes()).hexdigest()  # now: it may be edited while it is in use
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # it must not end the process, and as if all were well
        del sys.modules[name]
        raise InputError(f"plugin {path} cannot be loaded: {type(error).__name__}: {error}") from error
    _plugins[file] = module
    _hashes[file] = digest
    return module


def loaded_plugins() -> tuple[Path, ...]:
    """Files that `load_plugin` has loaded, in that order."""
    return tuple(_plugins)


def plugin_hashes() -> dict[Path, str]:
    """SHA-256 of the files that `load_plugin` has loaded, of their content at that time."""
    return {file: _hashes[file] for file in _plugins}
