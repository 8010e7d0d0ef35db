r"""Tables for a paper: LaTeX with booktabs, numbers with their intervals, notes under the rule.

>>> table = pd.DataFrame({"Mechanism": ["TCA"], "Hit (%)": ["5.4 (4.4 to 6.6)"]})
>>> print(latex_table(table, caption="Retaliation.", label="hit", notes="n = 10 runs."))
% needs \usepackage{booktabs}
\begin{table}
  \centering
  \caption{Retaliation.}
  \label{tab:hit}
  \begin{tabular}{lr}
    \toprule
    Mechanism & Hit (\%) \\
    \midrule
    TCA & 5.4 (4.4 to 6.6) \\
    \bottomrule
  \end{tabular}
  \par\smallskip\footnotesize n = 10 runs.
\end{table}
<BLANKLINE>
"""

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
    """Write a table of texts in LaTeX with booktabs.

    Parameters
    ----------
    table
        Texts, as they are to be read. Missing ones are left empty.
    caption, label, notes
        Plain text; the label gets the prefix `tab:`.
    text_columns
        So many columns from the left are set flush left, the others flush right.
    """
    columns = "l" * text_columns + "r" * (len(table.columns) - text_columns)
    lines = [" & ".join(escape(str(name)) for name in table.columns)]
    body = [
        " & ".join("" if pd.isna(value) else escape(str(value)) for value in row)
        for row in table.itertuples(index=False)
    ]
    parts = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape(caption)}}}",
        rf"  \label{{tab:{label}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        *[rf"    {line} \\" for line in lines],
        r"    \midrule",
        *[rf"    {line} \\" for line in body],
        r"    \bottomrule",
        r"  \end{tabular}",
    ]
    if notes:
        parts.append(rf"  \par\smallskip\footnotesize {escape(notes)}")
    return "\n".join([*parts, r"\end{table}", ""])
