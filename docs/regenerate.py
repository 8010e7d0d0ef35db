"""Write the generated parts of the documentation anew: `python docs/regenerate.py`.

A part stands between `<!-- begin generated: NAME -->` and `<!-- end generated: NAME -->`. A test compares what is
there with what this would write.
"""

import re
from collections.abc import Callable
from pathlib import Path

from deniability.analysis.groups import GROUPS
from deniability.analysis.metrics import METRICS
from deniability.scenarios.reference_page import parameters_markdown, scenarios_markdown, sources_markdown

FOLDER = Path(__file__).parent


def metrics_markdown() -> str:
    """Every metric, from the definitions that compute them."""
    lines = ["| key | kind | unit | meaning |", "|---|---|---|---|"]
    lines += [f"| `{one.key}` | {one.kind} | {one.unit} | {one.sentence} |" for one in METRICS]
    return "\n".join(lines)


def groups_markdown() -> str:
    """Every metric by group."""
    lines = ["| dimension | metric | denominator and numerator |", "|---|---|---|"]
    lines += [f"| `{dimension}` | `{key}` | {sentence} |" for dimension, key, sentence in GROUPS]
    return "\n".join(lines)


PARTS: dict[str, Callable[[], str]] = {
    "groups": groups_markdown,
    "metrics": metrics_markdown,
    "parameters": parameters_markdown,
    "scenarios": scenarios_markdown,
    "sources": sources_markdown,
}


def regenerated(text: str) -> str:
    """Return a page with its generated parts written anew.

    Raises
    ------
    KeyError
        It asks for a part that there is not.
    """

    def part(match: re.Match[str]) -> str:
        return f"{match[1]}\n{PARTS[match[2]]()}\n{match[3]}"

    pattern = r"(<!-- begin generated: (\w+) -->)\n.*?(<!-- end generated: \2 -->)"
    return re.sub(pattern, part, text, flags=re.DOTALL)


def main() -> None:
    """Regenerate every page."""
    for page in sorted(FOLDER.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (new := regenerated(text)) != text:
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
