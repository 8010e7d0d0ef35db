r"""Tables for a paper: LaTeX with booktabs, numbers over their intervals, notes under the rule.

>>> table = pd.DataFrame({"Mechanism": ["TCA"], "Hit (%)": ["5.4 (4.4 to 6.6)"]})
>>> print(latex_table(table, caption="Retaliation.", label="hit", notes="n = 10 runs."))
% needs \usepackage{booktabs}
\begin{table}
  \centering
  \footnotesize
  \setlength{\tabcolsep}{3pt}
  \caption{Retaliation.}
  \label{tab:hit}
  \begin{tabular}{lr}
    \toprule
    Mechanism & Hit (\%) \\
    \midrule
    TCA & \begin{tabular}[t]{@{}r@{}}5.4\\[-0.3ex]\scriptsize (4.4 to 6.6)\end{tabular} \\
    \bottomrule
  \end{tabular}
  \par\smallskip\footnotesize n = 10 runs.
\end{table}
<BLANKLINE>
"""

import re
import textwrap
from collections.abc import Sequence

import pandas as pd

__all__ = ["escape", "latex_table"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "δ": r"$\delta$",
    "σ": r"$\sigma$",
    "μ": r"$\mu$",
    "θ": r"$\theta$",
    "−": r"$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "–": "--",
    "…": r"\dots{}",
}


def escape(text: str) -> str:
    r"""Write text so that LaTeX prints it as it is, with any engine.

    >>> escape("a_b & 5 % at δ = −1")
    'a\\_b \\& 5 \\% at $\\delta$ = $-$1'
    """
    return "".join(_SPECIAL.get(character, character) for character in text)


def latex_table(
    table: pd.DataFrame, *, caption: str, label: str, notes: str = "", text_columns: int = 1
) -> str:
    """Write a table of texts in LaTeX with booktabs, narrow enough for a page.

    Parameters
    ----------
    table
        Texts, as they are to be read. Missing ones are left empty. An interval in parentheses is set under its
        number.
    caption, label, notes
        Plain text; the label gets the prefix `tab:`.
    text_columns
        So many columns from the left are set flush left, the others flush right; long ones are broken into lines.
    """
    aligned = "l" * text_columns + "r" * (len(table.columns) - text_columns)
    head = [
        _stack(
            textwrap.wrap(str(name), _TEXT if side == "l" else _HEADING, break_long_words=False), side, "b"
        )
        for name, side in zip(table.columns, aligned, strict=True)
    ]
    body = [
        [
            "" if pd.isna(value) else _text(str(value)) if side == "l" else _number(str(value))
            for value, side in zip(row, aligned, strict=True)
        ]
        for row in table.itertuples(index=False)
    ]
    parts = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        r"  \footnotesize",
        r"  \setlength{\tabcolsep}{3pt}",
        rf"  \caption{{{escape(caption)}}}",
        rf"  \label{{tab:{label}}}",
        rf"  \begin{{tabular}}{{{aligned}}}",
        r"    \toprule",
        rf"    {' & '.join(head)} \\",
        r"    \midrule",
        *[rf"    {' & '.join(cells)} \\" for cells in body],
        r"    \bottomrule",
        r"  \end{tabular}",
    ]
    if notes:
        parts.append(rf"  \par\smallskip\footnotesize {escape(notes)}")
    return "\n".join([*parts, r"\end{table}", ""])


_TEXT = 26
_HEADING = 13


def _text(text: str) -> str:
    return _stack(textwrap.wrap(text, _TEXT, subsequent_indent="  ", break_long_words=False), "l", "t")


def _number(text: str) -> str:
    """A number, with its interval under it if it has one."""
    match = re.fullmatch(r"(\S+) (\(.+\))", text)
    if match is None:
        return escape(text)
    inner = rf"{escape(match[1])}\\[-0.3ex]\scriptsize {escape(match[2])}"
    return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{inner}\end{{tabular}}"


def _stack(lines: Sequence[str], side: str, place: str) -> str:
    """Lines over one another; `place` tells which of them stands level with the row."""
    if len(lines) < 2:
        return escape(lines[0]) if lines else ""
    set_out = [r"\quad " * line.startswith("  ") + escape(line.strip()) for line in lines]
    return rf"\begin{{tabular}}[{place}]{{@{{}}{side}@{{}}}}{r'\\'.join(set_out)}\end{{tabular}}"
