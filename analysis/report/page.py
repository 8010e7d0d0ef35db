"""The HTML page of a report: one file, no network, the same bytes whenever it is made again."""

import html
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from string import Template

import pandas as pd

from ..findings import Finding
from ..results import Results
from .sections import LIMITS, reproduction, settings
from .tables import Printed

__all__ = ["Picture", "inline_svg", "render_page"]

type Picture = tuple[str, str, str]
"""Stem, SVG, caption of a figure."""

_KINDS = {
    "batch": "Report on a batch of runs",
    "run": "Report on one run",
    "twin": "Report on a twin study",
    "leakage": "Report on a leakage study",
    "sensitivity": "Report on a sensitivity study",
}


def render_page(
    results: Results, found: Sequence[Finding], pictures: Iterable[Picture], printed: Iterable[Printed]
) -> str:
    """Write the page.

    Parameters
    ----------
    results
        What it is about.
    found
        Findings, in the order in which they are told; those of one topic come together.
    pictures
        Figures.
    printed
        Tables.
    """
    sections = {
        "Findings": _findings(found),
        "Scenario and evidence": _scenario(results),
        "Figures": "\n".join(_figure(*picture) for picture in pictures),
        "Tables": "\n".join(_printed(one, shown=i == 0) for i, one in enumerate(printed)),
        "Limits": "<ul>\n" + "\n".join(f"<li>{_text(limit)}</li>" for limit in LIMITS) + "\n</ul>",
        "How to reproduce": _reproduction(results),
    }
    told = {name: body for name, body in sections.items() if body}
    about = results.scenario.get("scenario", {})
    question = about.get("question")
    version = results.manifest.get("versions", {}).get("deniability")
    page = files(__package__)
    return Template((page / "page.html").read_text(encoding="utf-8")).substitute(
        title=_text(results.title),
        kind=_text(_KINDS.get(results.kind, "Report")),
        style=(page / "style.css").read_text(encoding="utf-8"),
        question=f'<p class="question">{_text(question)}</p>' if question else "",
        notices="\n".join(f'<p class="notice">{_text(notice)}</p>' for notice in results.notices),
        nav="<nav>" + " ".join(f'<a href="#{_anchor(name)}">{name}</a>' for name in told) + "</nav>",
        sections="\n".join(
            f'<section id="{_anchor(name)}">\n<h2>{name}</h2>\n{body}\n</section>'
            for name, body in told.items()
        ),
        version=f" {_text(version)}" if version else "",
    )


def inline_svg(source: str, stem: str, label: str) -> str:
    """Make an SVG file fit to stand in a page with others: its own names, no prologue, no metadata.

    Parameters
    ----------
    source
        Content of the file.
    stem
        Prefix of every identifier, so that figures do not take each other's.
    label
        What it shows, for those who cannot see it.
    """
    body = source[source.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{stem}-', body)
    body = re.sub(r'href="#', f'href="#{stem}-', body)
    body = re.sub(r"url\(#", f"url(#{stem}-", body)
    return body.replace("<svg", f'<svg role="img" aria-label="{html.escape(label)}"', 1).strip()


def _findings(found: Sequence[Finding]) -> str:
    if not found:
        return "<p>There is nothing to estimate in these results.</p>"
    topics: dict[str, list[str]] = {}
    for one in found:
        topics.setdefault(one.topic, []).append(_item(one))
    parts = ["<p>Numbers in parentheses after an estimate are its 95 % interval. A difference is told only where its "
             "interval does not include zero and rests on ten pairs of runs or more.</p>"]  # fmt: skip
    for topic, items in topics.items():
        parts.append(f"<h3>{_text(topic)}</h3>\n<ul>\n{'\n'.join(items)}\n</ul>")
    return "\n".join(parts)


def _item(one: Finding) -> str:
    if len(one.parts) < 3:
        return f"<li>{_text(one.sentence)}</li>"
    inner = "".join(f"<li>{_text(part)}</li>" for part in one.parts)
    return f"<li>{_text(one.lead)}:<ul>{inner}</ul></li>"


def _scenario(results: Results) -> str:
    about = results.scenario.get("scenario", {})
    values = settings(results)
    if not values:
        return ""
    counts = {
        kind: sum(one.kind == kind for one in values) for kind in ("source", "assumption", "tuned", "none")
    }
    description = str(about.get("description", "")).strip()
    parts = [f"<p>{_text(description)}</p>"] if description else []
    parts.append(
        f"<p>The scenario sets {len(values)} values: {counts['source']} rest on a source, {counts['assumption']} are "
        f"assumptions, {counts['tuned']} are tuned, and for {counts['none']} no evidence is given.</p>"
    )
    rows = "\n".join(
        f'<tr><td class="text path">{_breakable(path)}</td><td class="text path">{_text(value)}</td>'
        f'<td class="text">{_text("assumption: " + why if kind == "assumption" else why)}</td></tr>'
        for path, value, kind, why in values
    )
    head = "".join(f'<th class="text">{name}</th>' for name in ("Key", "Value", "Rests on"))
    parts.append(
        "<details><summary>Every value with its evidence</summary>\n"
        f'<table class="evidence"><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></details>'
    )
    return "\n".join(parts)


def _figure(stem: str, svg: str, caption: str) -> str:
    match = re.search(r'<svg[^>]*?width="([\d.]+)pt"', svg)
    narrow = ' class="narrow"' if match and float(match.group(1)) < 400 else ""
    inline = inline_svg(svg, stem, caption)
    return (
        f'<figure id="figure-{stem}"{narrow}>\n{inline}\n<figcaption>{_text(caption)}</figcaption>\n</figure>'
    )


def _printed(one: Printed, *, shown: bool) -> str:
    table = f"<h3>{_text(one.caption)}</h3>\n{_table(one.table, one.text_columns)}\n"
    table += f'<p class="notes">{_text(one.notes)}</p>'
    return table if shown else f"<details><summary>{_text(one.caption)}</summary>\n{table}\n</details>"


def _table(table: pd.DataFrame, text_columns: int) -> str:
    kinds = [' class="text"' if i < text_columns else "" for i in range(len(table.columns))]
    head = "".join(f"<th{kind}>{_text(name)}</th>" for kind, name in zip(kinds, table.columns, strict=True))
    cells = [
        [f"<td{kind}>{'–' if pd.isna(x) else _cell(x)}</td>" for kind, x in zip(kinds, row, strict=True)]
        for row in table.itertuples(index=False)
    ]
    rows = "\n".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    )


def _cell(value: object) -> str:
    """Escape text; an interval in parentheses is kept in one piece."""
    return re.sub(r" (\([^()]* to [^()]*\))$", r' <span class="interval">\1</span>', _text(value))


def _breakable(path: str) -> str:
    """A dotted path that may be broken after its dots."""
    return _text(path).replace(".", ".<wbr>")


def _reproduction(results: Results) -> str:
    rows = reproduction(results)
    if not rows:
        return "<p>These results have no manifest, so how they were made is not known.</p>"
    body = "\n".join(
        f'<tr><td>{_text(name)}</td><td class="path">{_text(value)}</td></tr>' for name, value in rows
    )
    return f'<table class="facts"><tbody>\n{body}\n</tbody></table>'


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _text(value: object) -> str:
    """Escape text, turn `code` into code, and keep numbers and their unit on one line."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(str(value)))
    return re.sub(r"(?<=\d) (?=%|points|weeks)", "\N{NO-BREAK SPACE}", text)
