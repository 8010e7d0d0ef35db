"""The report stream of a leakage study: read from a CSV file, or drawn."""

from pathlib import Path

import numpy as np

from ..agents.ports import IntArray
from ..scenarios.errors import InputError
from .draws import KeyedDraws

__all__ = ["parse_report_at", "poisson_stream", "read_stream"]

_LARGEST = 10**9  # counts beyond it would only be a slip of the pen, and would not add up exactly
_MOST = 3  # bad rows that are told, and bad columns of each
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}


def read_stream(path: Path, horizon: int | None = None, n_targets: int | None = None) -> IntArray:
    """Read a stream: a row per period, a column per target, whole numbers of new reports, no header.

    Parameters
    ----------
    path
        CSV file, UTF-8, comma-separated.
    horizon, n_targets
        How many rows and columns it must have, if known.

    Returns
    -------
    stream
        New reports, shape (periods, targets).

    Raises
    ------
    InputError
        With file, row and column (from 1) of what is wrong in the first three bad rows, and how many more there are.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"--stream {path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"--stream {path}: byte {error.start + 1} is not UTF-8; save the file as UTF-8"
        ) from None
    except OSError as error:
        raise InputError(f"--stream {path}: cannot be read ({error.strerror})") from None
    rows = [line.split(",") for line in text.splitlines()]
    while rows and rows[-1] == [""]:
        rows.pop()
    if not rows:
        raise InputError(
            f"--stream {path}: the file is empty; needed is a row per period, a column per target"
        )
    sample = min(1, len(rows) - 1)  # below a header, if there is one
    if other := _other_separator(rows[sample]):
        raise InputError(
            f"--stream {path}: columns must be separated by commas; those of row {sample + 1} seem to be separated "
            f"by {other}"
        )
    header = _is_header(rows)
    width = len(rows[0]) if n_targets is None else n_targets
    stream = np.zeros((len(rows), width), dtype=np.int64)
    bad_rows: list[list[str]] = []
    if header:
        j, name = next((j, cell.strip()) for j, cell in enumerate(rows[0]) if cell.strip())
        bad_rows.append(
            [f'row 1, column {j + 1}: "{_shown(name)}" is not a number; the file must have no header']
        )
    for i, cells in enumerate(rows[header:], start=int(header)):
        if len(cells) != width:
            wanted = "as the first row has" if n_targets is None else "as there are targets"
            bad_rows.append([f"row {i + 1} has {len(cells)} columns, not {width} {wanted}"])
            continue
        bad = []
        for j, cell in enumerate(cells):
            problem = _read_cell(cell.strip())
            if isinstance(problem, str):
                bad.append(f"row {i + 1}, column {j + 1}: {problem}")
            else:
                stream[i, j] = problem
        if bad:
            left = len(bad) - _MOST
            bad_rows.append(bad[:_MOST] + ([f"row {i + 1}: {_more(left, 'bad column')}"] if left > 0 else []))
    problems = [problem for bad in bad_rows[:_MOST] for problem in bad]
    if len(bad_rows) > _MOST:
        problems.append(_more(len(bad_rows) - _MOST, "bad row"))
    if horizon is not None and len(rows) - header != horizon:
        problems.append(f"{len(rows) - header} rows, but the horizon is {horizon} periods")
    if problems:
        raise InputError([f"--stream {path}: {problem}" for problem in problems])
    return stream


def _more(n: int, what: str) -> str:
    return f"and {n} more {what}" + ("s" if n > 1 else "")


def _other_separator(cells: list[str]) -> str | None:
    """What separates the columns of a row, where that is no comma."""
    text = ",".join(cells).strip()
    return next(
        (name for mark, name in _SEPARATORS.items() if mark in text and (mark != " " or "," not in text)),
        None,
    )


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row has words alone, and the second, if there is one, does not."""

    def words(cells: list[str]) -> bool:
        return any(map(str.strip, cells)) and not any(map(_is_number, cells))

    return words(rows[0]) and not (len(rows) > 1 and words(rows[1]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _shown(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"


def _read_cell(text: str) -> int | str:
    """Return the number, or what is wrong with it."""
    shown = _shown(text)
    if not text:
        return "empty; 0 stands for no report"
    try:
        number = float(text)
    except ValueError:
        return f'"{shown}" is not a number'
    if not np.isfinite(number):
        return f'"{shown}" is not finite'
    if number < 0:
        return f"{shown} is negative; a number of reports is at least 0"
    if number != int(number):
        return f"{shown} is not a whole number of reports"
    if number > _LARGEST:
        return f"{shown} is too large; at most {_LARGEST}"
    return int(number)


def poisson_stream(
    draws: KeyedDraws, horizon: int, n_targets: int, rate_lead: float = 1.0, rate_other: float = 0.2
) -> IntArray:
    """Draw the paper's stream: Poisson reports, target 0 ahead of the others.

    Parameters
    ----------
    draws
        Named random streams.
    horizon, n_targets
        Shape of the stream.
    rate_lead, rate_other
        Reports per period about target 0, and about each other target.
    """
    for name, rate in (("--rate-lead", rate_lead), ("--rate-other", rate_other)):
        if not 0.0 <= rate <= 1e6:
            raise InputError(f"{name}: {rate:g} reports per period; allowed is 0 to 1e6")
    rates = np.full(n_targets, rate_other)
    rates[0] = rate_lead
    stream: IntArray = draws.generator("leakage.stream").poisson(rates, size=(horizon, n_targets))
    return stream


def parse_report_at(text: str | None, horizon: int, n_targets: int) -> tuple[int, int]:
    """Read "t,c": the report's period (from 1) and target (from 0).

    Returns
    -------
    period, target
        Both from 0. Without a text the middle of the stream, target 0.
    """
    if text is None:
        return (horizon - 1) // 2, 0
    problem = InputError(
        f'--report-at "{text}": needed are two whole numbers t,c: a period from 1 to {horizon} and '
        f"a target from 0 to {n_targets - 1}"
    )
    parts = text.split(",")
    try:
        period, target = (int(part) for part in parts)
    except ValueError:
        raise problem from None
    if not (1 <= period <= horizon and 0 <= target < n_targets):
        raise problem
    return period - 1, target
