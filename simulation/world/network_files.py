"""Network files of either format, each read once."""

from functools import lru_cache
from pathlib import Path

from ...scenarios.errors import InputError
from ...scenarios.linked import read_linked
from ...scenarios.wording import printable
from .network import Network
from .network_csv import edges_text, nodes_text, read_csv
from .network_graphml import graphml_text, read_graphml

__all__ = ["format_of", "read_network", "write_network"]

FORMATS = (".csv", ".graphml")


def format_of(path: str) -> str:
    """The format of a network file, told by its name.

    Raises
    ------
    InputError
        The name ends in neither .csv nor .graphml.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{printable(path)}: the name of a network file must end in {' or '.join(FORMATS)}")
    return suffix


def read_network(path: str, nodes_path: str = "") -> Network:
    """Read a network of employees and compartments; an unchanged file is read once.

    Parameters
    ----------
    path
        A list of edges (.csv) or a GraphML file (.graphml).
    nodes_path
        A list of nodes (.csv) that goes with a list of edges; "" for none.

    Raises
    ------
    InputError
        With a message for each of the first things that are wrong.
    """
    if format_of(path) == ".graphml" and nodes_path:
        raise InputError(
            f"{printable(nodes_path)}: access.nodes_file goes with a .csv; GraphML has its own attributes"
        )
    if nodes_path and format_of(nodes_path) != ".csv":
        raise InputError(f"{printable(nodes_path)}: access.nodes_file must be a .csv")
    return _read(path, nodes_path, _state(path), _state(nodes_path) if nodes_path else ())


def _state(path: str) -> tuple[int, ...]:
    try:
        state = Path(path).stat()
    except (OSError, ValueError):
        return ()  # reading will say why
    return state.st_size, state.st_mtime_ns, state.st_ino


@lru_cache(maxsize=4)
def _read(path: str, nodes_path: str, _state: tuple[int, ...], _nodes_state: tuple[int, ...]) -> Network:
    label, content = printable(path), read_linked(path)
    if format_of(path) == ".graphml":
        return read_graphml(label, content)
    nodes = (printable(nodes_path), read_linked(nodes_path)) if nodes_path else None
    return read_csv(label, content, nodes)


def write_network(network: Network, path: Path, nodes_path: Path | None = None) -> None:
    """Write a network to a file that `read_network` reads.

    Parameters
    ----------
    network
        The network.
    path
        .graphml for everything in one file, .csv for the edges.
    nodes_path
        Where the nodes go with a .csv; without it, attributes and people without access are lost.

    Raises
    ------
    InputError
        The format is unknown, or the file cannot be written.
    """
    texts = {path: graphml_text(network) if format_of(str(path)) == ".graphml" else edges_text(network)}
    if nodes_path is not None:
        texts[nodes_path] = nodes_text(network)
    for place, text in texts.items():
        try:
            place.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            raise InputError(
                f"{printable(str(place))}: cannot be written: {error.strerror or error}"
            ) from None
