"""The report: one page that needs nothing else, says only what is estimated, and is the same wherever it is made."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from deniability.analysis.findings import Finding
from deniability.analysis.latex import escape, latex_table
from deniability.analysis.report import make_report, write_report
from deniability.analysis.report.other_findings import findings_of
from deniability.analysis.report.page import inline_svg, render_page
from deniability.analysis.report.sections import command_line, settings
from deniability.analysis.report.tables import printed_tables
from deniability.analysis.results import Results, read_results
from deniability.simulation.command_line import application

from .made_up_batch import SCENARIO, make_runs, write_batch
from .test_study_figures import EFFECTS


class Page(HTMLParser):
    """What a browser would fetch, the identifiers, and whether tags are closed."""

    VOID = ("meta", "br", "wbr", "img", "link", "hr", "input")

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.fetched, self.ids, self.open, self.problems, self.text = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.fetched += [given[name] for name in ("src", "data", "poster", "srcset") if name in given]
        if tag == "link" or tag == "script":
            self.problems.append(tag)
        for name in ("href", "xlink:href"):
            if name in given and not given[name].startswith("#") and tag != "a":
                self.fetched.append(given[name])
        if "id" in given:
            self.ids.append(given["id"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"/{tag}")

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small batch (so that it is quick) with its report."""
    folder = write_batch(tmp_path_factory.mktemp("r") / "b", make_runs(4, ["greedy", "tca"], [0.1]))
    report = make_report(folder)
    return folder, report, write_report(report, folder, folder)


def test_the_page_needs_nothing_from_outside(made):
    page = Page(made[2][0].read_text(encoding="utf-8"))
    assert page.fetched == []
    assert page.problems == []
    assert page.open == []
    assert len(page.ids) == len(set(page.ids)) > 100
    style = re.findall(r"url\((?!#)|@import", made[2][0].read_text(encoding="utf-8"))
    assert style == []


def test_every_reference_inside_the_page_has_its_target(made):
    text = made[2][0].read_text(encoding="utf-8")
    ids = set(Page(text).ids)
    referred = set(re.findall(r'href="#([^"]+)"', text)) | set(re.findall(r"url\(#([^)]+)\)", text))
    assert referred
    assert referred <= ids


def test_the_page_tells_the_study(made):
    text = "".join(Page(made[2][0].read_text(encoding="utf-8")).text)
    flat = " ".join(text.replace("\u00a0", " ").split())
    for heading in ("Findings", "Scenario and evidence", "Figures", "Tables", "Limits", "How to reproduce"):
        assert heading in flat
    assert "What would a report say?" in flat
    assert "Nobody & nothing." in flat
    assert "ideal real-valued noise and a trusted auditor" in flat
    assert "deniability batch made-up --out made-up" in flat
    for finding in made[1].findings:
        if len(finding.parts) < 3:
            assert " ".join(finding.sentence.replace("`", "").split()) in flat


def test_no_path_of_the_machine_is_told(made):
    for file in [made[2][0], *made[0].glob("figures/*.svg"), *made[0].glob("tables/*")]:
        text = file.read_text(encoding="utf-8")
        assert "/home/someone" not in text
        assert "/opt/bin" not in text
        assert str(made[0]) not in text


@pytest.mark.slow
def test_a_copy_elsewhere_gives_the_same_bytes(made, tmp_path):
    copy = tmp_path / "else" / "where"
    shutil.copytree(made[0], copy, ignore=shutil.ignore_patterns("figures", "tables", "report.html"))
    again = write_report(make_report(copy), copy, copy)
    assert len(again) == len(made[2])
    for one, other in zip(made[2], again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_tables_are_tidy_and_complete(made):
    table = pd.read_csv(made[0] / "tables" / "estimates.csv")
    assert {"value", "low", "high", "error", "numerator", "denominator", "n_runs", "method"} <= set(
        table.columns
    )
    assert (table["n_runs"] <= 4).all()
    assert table.groupby(["auditor.mechanism", "metric"]).size().eq(1).all()
    printed = (made[0] / "tables" / "main.tex").read_text(encoding="utf-8")
    assert sum(line.endswith(r" \\") for line in printed.splitlines()) == 1 + 22


def test_what_is_written_can_be_printed_by_latex(made):
    for file in made[0].glob("tables/*.tex"):
        text = file.read_text(encoding="utf-8")
        assert text.isascii(), file.name
        body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
        columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", text).group(1)
        rows = [line for line in body.splitlines() if line.endswith(r" \\")]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(columns) - 1}
        assert "n = " in text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX (pdflatex)")
def test_latex_prints_every_table_within_the_margins_of_a_page(made, tmp_path):
    """A4 with margins of an inch; an overfull line is one that sticks out."""
    inputs = "".join(rf"\input{{{file}}}" for file in sorted(made[0].glob("tables/*.tex")))
    (tmp_path / "page.tex").write_text(
        r"\documentclass[a4paper]{article}\usepackage[margin=1in]{geometry}\usepackage{booktabs}"
        rf"\begin{{document}}{inputs}\end{{document}}",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "page.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_latex_keeps_every_special_character():
    assert escape(r"\{}$&#^_~%") == (r"\textbackslash{}\{\}\$\&\#\textasciicircum{}\_\textasciitilde{}\%")
    empty = latex_table(pd.DataFrame({"a": ["x", None]}), caption="c", label="l")
    assert r"    x \\" in empty
    assert r"     \\" in empty


def test_words_from_a_scenario_are_no_markup(made):
    text = made[2][0].read_text(encoding="utf-8")
    assert "A made-up study &lt;of&gt; nothing" in text
    assert "<of>" not in text
    bad = Finding("<b>", "a & b <script>alert(1)</script> $x")
    page = render_page(Results("batch", "n", {}, {}), [bad], [], [])
    assert "<script>" not in page
    assert "$x" in page


def test_every_value_has_its_evidence():
    found = settings(Results("batch", "n", {"resolved_scenario": SCENARIO}, {}))
    by_path = {one[0]: one for one in found}
    assert by_path["auditor.delta"][2:] == (
        "source",
        "from there [Somebody, Something, 2020. https://example.org/a]",
    )
    assert by_path["time.periods"][2:] == ("assumption", "long enough")
    assert by_path["organizations.prior"].kind == "none"
    assert not any(path.startswith(("scenario", "evidence", "sources")) for path in by_path)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["/x/deniability", "run", "a b", "--out", "/t/u/v"], "deniability run 'a b' --out v"),
        (["deniability", "run", "x", "--out=/t/u/v"], "deniability run x --out=v"),
        (["C:\\x\\deniability.exe", "run", "C:\\my\\file.toml"], "deniability run file.toml"),
        ([], None),
    ],
)
def test_the_command_is_told_without_paths(command, told):
    assert command_line(Results("run", "n", {"command": command}, {})) == told


def test_figures_do_not_take_each_others_names():
    svg = (
        '<?xml version="1.0"?><!DOCTYPE svg><svg a="1"><metadata>x</metadata>'
        '<g id="p"/><use xlink:href="#p" clip-path="url(#p)"/></svg>'
    )
    assert inline_svg(svg, "one", 'a "b"') == (
        '<svg role="img" aria-label="a &quot;b&quot;" a="1"><g id="one-p"/>'
        '<use xlink:href="#one-p" clip-path="url(#one-p)"/></svg>'
    )


@pytest.mark.parametrize("n_runs", [0, 1])
def test_a_batch_of_no_run_and_of_one(tmp_path, n_runs):
    folder = write_batch(
        tmp_path / "b", make_runs(1, ["tca"], [0.1]).iloc[:n_runs], groups=False, series=False
    )
    report = make_report(folder)
    page = write_report(report, folder, tmp_path / "out")[0].read_text(encoding="utf-8")
    assert ("There is one run only" if n_runs else "No run came to its end") in page
    assert ("nothing to estimate in these results" in page) == (n_runs == 0)
    json.dumps(report.as_dict(), allow_nan=False)


def test_all_counts_zero_and_nothing_to_divide_by():
    runs = make_runs(3, ["greedy", "tca"], [0.1])
    for name in runs.columns:
        if name.endswith(("_numerator", "_denominator")):
            runs[name] = 0
    results = Results("batch", "b", {"resolved_scenario": SCENARIO}, {"runs": runs})
    (main, *_) = printed_tables(results)
    rows = main.table.set_index("")
    assert (rows.loc["Reporters retaliated against (% of reporters)"] == "–").all()
    assert not rows.loc["Harm (severity-weeks per run)"].eq("–").any()


def test_missing_columns_are_told_and_the_rest_is_estimated(tmp_path):
    runs = make_runs(3, ["greedy", "tca"], [0.1]).drop(columns=["retaliation_rate_numerator", "final_fear"])
    report = make_report(write_batch(tmp_path / "b", runs))
    assert report.results.notices[-1] == (
        "Columns are missing for, and nothing is said of: retaliation_rate, excess_retaliation, final_fear."
    )
    assert "restricted_weeks_to_audit" in set(report.tables["estimates"]["metric"])
    assert "retaliation_rate" not in set(report.tables["estimates"]["metric"])


def test_a_twin_study_tells_its_effect_against_the_bound(tmp_path):
    folder = tmp_path / "t"
    (folder / "tables").mkdir(parents=True)
    EFFECTS.to_csv(folder / "tables" / "effects.csv", index=False)
    (folder / "manifest.json").write_text(
        json.dumps({"kind": "twin", "resolved_scenario": SCENARIO}), encoding="utf-8"
    )
    told = [one.sentence for one in make_report(folder).findings]
    assert told[0] == (
        "Certified effect through the transcript: +4.0 points (95 % interval −1.0 to +9.0; 80 pairs); the guarantee "
        "bounds its mean by 10 points, and the interval lies within that."
    )
    # the total effect through the transcript touches zero and is not told
    assert told[1:] == [
        "Reporting raises the chance of being retaliated against, all channels: +20.0 points (95 % interval +10.0 to "
        "+30.0; 80 pairs)."
    ]


def test_a_leakage_study_keeps_its_own_figure(tmp_path):
    (tmp_path / "figures").mkdir()
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="504pt"><g id="roc"/></svg>'
    (tmp_path / "figures" / "leakage.svg").write_text(svg, encoding="utf-8")
    (tmp_path / "figures" / "leakage.txt").write_text("The curve.\n\nProvenance: {}\n", encoding="utf-8")
    game = {
        "mechanism": "tca",
        "advantage": 0.05,
        "low": 0.01,
        "high": 0.09,
        "bound": 0.1,
        "transcripts": 500,
    }
    (tmp_path / "leakage.json").write_text(json.dumps(game), encoding="utf-8")
    report = make_report(tmp_path)
    assert "advantage of 0.050 (95 % interval 0.010 to 0.090; 500 transcripts in each world)" in (
        report.findings[0].sentence
    )
    page = write_report(report, tmp_path, tmp_path / "out")[0].read_text(encoding="utf-8")
    assert 'id="leakage-roc"' in page
    assert "<figcaption>The curve.</figcaption>" in page


def test_the_command_prints_one_json_object_and_writes_nothing(tmp_path):
    folder = write_batch(tmp_path / "b", make_runs(3, ["greedy", "tca"], [0.1]))
    before = sorted(folder.rglob("*"))
    outcome = CliRunner().invoke(application(), ["report", str(folder), "--json"])
    assert outcome.exit_code == 0, outcome.output
    told = json.loads(outcome.stdout)
    assert told["kind"] == "batch"
    assert told["runs"] == 6
    assert told["files"] == []
    assert {"topic", "sentence", "estimates"} == set(told["findings"][0])
    assert sorted(folder.rglob("*")) == before


@pytest.mark.browser
@pytest.mark.slow
def test_a_browser_prints_the_page(made, tmp_path):
    browser = next(
        (b for b in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if b), None
    )
    if browser is None:
        pytest.skip("needs Chromium")
    pdf = tmp_path / "page.pdf"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    flags += [f"--user-data-dir={tmp_path / 'profile'}", "--no-pdf-header-footer", f"--print-to-pdf={pdf}"]
    subprocess.run([browser, *flags, made[2][0].as_uri()], check=True, capture_output=True, timeout=120)
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF")
    assert 4 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 40


def test_the_page_is_in_the_package():
    folder = Path(read_results.__code__.co_filename).parent / "report"
    assert {"page.html", "style.css"} <= {file.name for file in folder.iterdir()}


@pytest.mark.parametrize(
    ("method", "points", "told"),
    [
        ("morris", 3 * 9, "9 trajectories are too few to tell parameters apart"),
        ("morris", 3 * 10, "first: mean absolute effect over its range 40.0 points"),
        ("sobol", 4 * 16, "16 base samples are too few to tell parameters apart"),
        ("sobol", 4 * 32, "first: total-order index 0.4"),
    ],
)
def test_a_small_design_ranks_nothing(method, points, told):
    """Two parameters: a trajectory has three points, a base sample four."""
    index = "mu_star" if method == "morris" else "ST"
    rows = [("retaliation_rate", name, index, 0.4, 0.3, 0.5) for name in ("first", "second")]
    table = pd.DataFrame(rows, columns=["metric", "parameter", "index", "value", "low", "high"])
    manifest = {"method": method, "samples": points, "parameters": ["first", "second"]}
    found = findings_of(Results("sensitivity", "s", manifest, {}, summaries={"indices": table}))
    assert any(told in one.sentence.replace("First", "first") for one in found)
    assert any("too few" in one.sentence for one in found) == ("too few" in told)
