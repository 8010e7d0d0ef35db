"""The verbs for scenario files, through the real command: exit codes, one object with --json, no traceback ever."""

import json
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from deniability.scenarios import content_hash, resolve, shipped_names
from deniability.simulation.command_line import main

LAB = "[labs.lab-a]\nemployees = 10\n"


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


type Call = Callable[..., Outcome]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def called(*arguments: str) -> Outcome:
        monkeypatch.setattr("sys.argv", ["deniability", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        code = exit_.value.code
        captured = capsys.readouterr()
        return Outcome(code if isinstance(code, int) else 0, captured.out, captured.err)

    return called


def test_list_names_every_shipped_scenario(call: Call) -> None:
    code, out, err = call("list")
    assert (code, err) == (0, "")
    assert "five-labs" in out
    rows = json.loads(call("list", "--json").out)["scenarios"]
    assert rows == sorted(rows, key=lambda row: row["name"])
    (five,) = [row for row in rows if row["name"] == "five-labs"]
    assert (five["labs"], five["targets"], five["periods"], five["cells"], five["replicates"]) == (
        5,
        25,
        104,
        20,
        50,
    )


def test_show_gives_every_value_its_unit_and_its_source(call: Call) -> None:
    code, out, err = call("show", "five-labs")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert " 0.35  probability  " in lines["organizations.retaliation_hazard"]
    assert "eci-2018" in lines["organizations.retaliation_hazard"]
    assert "that of the run" in lines["auditor.horizon"]
    assert "https://www.ethics.org/ecihome/research/gbes" in lines["eci-2018:"]
    assert "How much does each audit mechanism protect" in out


def test_show_json_is_one_object_whose_config_is_the_scenario(call: Call, tmp_path: Path) -> None:
    shown = json.loads(call("show", "five-labs", "--set", "auditor.delta=0.2", "--json").out)
    assert shown["name"] == "five-labs"
    (delta,) = [row for row in shown["parameters"] if row["path"] == "auditor.delta"]
    assert (delta["value"], delta["unit"], delta["set_in"]) == (0.2, "probability", "--set")
    assert delta["evidence"] == "changed in --set, which gives no source"
    assert shown["content_hash"] == content_hash(resolve("five-labs", ["auditor.delta=0.2"]).config)
    assert shown["config"]["auditor"]["delta"] == 0.2


def test_resolved_prints_toml_that_is_the_same_scenario(call: Call, tmp_path: Path) -> None:
    (tmp_path / "child.toml").write_text("[scenario]\nextends = ['five-labs']\n[incidents]\nrate = 2\n")
    code, out, _ = call("show", "child.toml", "--resolved")
    assert code == 0
    assert tomllib.loads(out)["incidents"]["rate"] == 2.0
    (tmp_path / "alone.toml").write_text(out, encoding="utf-8")
    assert resolve("alone.toml").config == resolve("child.toml").config


def test_what_a_file_says_cannot_command_a_terminal(call: Call, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(LAB + '[scenario]\ntitle = "a\\u001b[31m [bold]b[/bold]"\n')
    out = call("show", "study.toml").out
    assert "\x1b" not in out
    assert "a\\x1b[31m [bold]b[/bold]" in out


def test_validate_tells_of_each_file(call: Call, tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text(LAB + "[evidence]\nlabs = 'assumption: small'\n")
    (tmp_path / "bad.toml").write_text(LAB + "[auditor]\nmechanism = 'exponentail'\ndetla = 1\n")
    code, out, err = call("validate", "good.toml", "five-labs")
    assert (code, err) == (0, "")
    assert [line.split(" (")[0] for line in out.splitlines()] == ["good.toml: OK", "five-labs: OK"]
    code, out, err = call("validate", "good.toml", "bad.toml", "missing.toml")
    assert code == 2
    assert [line.split(" (")[0] for line in out.splitlines()] == ["good.toml: OK"]
    first, second, third = err.splitlines()
    assert first.startswith(
        'bad.toml:4: auditor.mechanism = "exponentail": there is no such name; did you mean'
    )
    assert second == "bad.toml:5: auditor.detla: unknown key; did you mean auditor.delta?"
    assert third.startswith("missing.toml: no such file")


def test_validate_warns_of_values_without_evidence(call: Call, tmp_path: Path) -> None:
    # evidence for a table speaks for all in it; defaults and swept values claim nothing
    (tmp_path / "own.toml").write_text(
        LAB + "[auditor]\ndelta = 0.2\n[access]\nmedian_access = 8\n[employees.beliefs]\ndecay = 0.9\n"
        "[sweep.grid]\n'incidents.rate' = [1.0, 2.0]\n[evidence]\nemployees = 'assumption: why'\n"
    )
    code, out, err = call("validate", "own.toml")
    assert (code, out) == (0, "own.toml: OK (1 targets, 2 runs in its sweep)\n")
    end = 'has no entry in [evidence]: a key of [sources], "assumption: why" or "tuned: how"'
    expected = [
        f"own.toml:4: warning: auditor.delta = 0.2 {end}",
        f"own.toml:2: warning: labs.lab-a.employees = 10 {end}",
        f"own.toml:6: warning: access.median_access = 8.0 {end}",
    ]
    assert err.splitlines() == expected
    told = json.loads(call("validate", "own.toml", "--json").out)
    assert told["ok"] is True
    assert told["files"][0]["warnings"] == expected


def test_validate_warns_of_changed_values_and_leaves_parents_alone(call: Call, tmp_path: Path) -> None:
    (tmp_path / "parent.toml").write_text(LAB + "[time]\nperiods = 9\n")
    (tmp_path / "child.toml").write_text(
        "[scenario]\nextends = ['five-labs', 'parent']\n[auditor]\nmechanism = 'tca'\ndelta = 0.3\n"
    )
    err = call("validate", "child.toml").err
    # the mechanism is what five-labs has, so its evidence still holds; the level is another
    assert [line.partition(" has ")[0] for line in err.splitlines()] == [
        "child.toml:5: warning: auditor.delta = 0.3"
    ]


SURE = "everybody with access is suspected without any evidence"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[organizations]\nthreshold = 0.3\n",  # a posterior that reaches it is enough, and the prior does
            [
                "own.toml:4: warning: organizations.threshold = 0.3 is at or below organizations.prior = 0.3: "
                + SURE
            ],
        ),
        (
            "[organizations]\nprior = 0.6\n",
            [
                "own.toml:4: warning: organizations.threshold = 0.5 is at or below organizations.prior = 0.6: "
                + SURE
            ],
        ),
        (
            "organization = {threshold = 0.2}\n[organizations]\nprior = 0.25\n",
            [
                "own.toml:3: warning: labs.lab-a.organization.threshold = 0.2 is at or below organizations.prior = "
                "0.25: " + SURE
            ],
        ),
        ("organization = {threshold = 0.7}\n[organizations]\nprior = 0.6\n", []),  # no lab has the 0.5
        ("[organizations]\nthreshold = 0.31\n", []),
        ("[organizations]\nthreshold = 0.1\ncriterion = 'expected-gain'\n", []),  # where no threshold counts
        (
            "[organizations]\ngain = 3.0\ncriterion = 'expected-gain'\n",  # 0.3 * 3 > 0.7 * 1
            [
                "own.toml:4: warning: organizations.prior = 0.3 is enough to expect a gain from organizations.gain = "
                "3.0 and organizations.cost = 1.0: " + SURE
            ],
        ),
    ],
)
def test_validate_warns_of_labs_that_suspect_everybody(
    call: Call, tmp_path: Path, text: str, expected: list[str]
) -> None:
    evidence = "[evidence]\nlabs = 'assumption: small'\norganizations = 'assumption: why'\n"
    (tmp_path / "own.toml").write_text(LAB + text + evidence)
    code, out, err = call("validate", "own.toml")
    assert (code, err.splitlines()) == (0, expected)
    assert out.startswith("own.toml: OK")
    assert json.loads(call("validate", "own.toml", "--json").out)["files"][0]["warnings"] == expected


def test_validate_warns_once_of_what_two_labs_share(call: Call, tmp_path: Path) -> None:
    (tmp_path / "parent.toml").write_text(
        LAB + "[labs.lab-b]\nemployees = 5\n[organizations]\nthreshold = 0.35\n"
    )
    (tmp_path / "child.toml").write_text(
        "[scenario]\nextends = ['parent']\n[organizations]\nprior = 0.4\n[evidence]\norganizations = 'tuned: so'\n"
    )
    assert call("validate", "parent.toml").err.count(SURE) == 0
    assert call("validate", "child.toml").err.splitlines() == [
        "child.toml:4: warning: organizations.threshold = 0.35 is at or below organizations.prior = 0.4: "
        + SURE
    ]


def test_shipped_scenarios_and_the_starter_have_evidence_for_all_they_set(call: Call) -> None:
    assert call("new", "my-study").code == 0
    code, out, err = call("validate", "my-study.toml", *shipped_names())
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 1 + len(shipped_names())


def test_validate_json_is_one_object_also_when_a_file_is_bad(call: Call, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[time]\nperiods = 0\n" + LAB)
    code, out, err = call("validate", "five-labs", "bad.toml", "--json")
    assert (code, err) == (2, "")
    told = json.loads(out)
    assert told["ok"] is False
    assert [(file["file"], file["ok"], len(file["problems"])) for file in told["files"]] == [
        ("five-labs", True, 0),
        ("bad.toml", False, 1),
    ]


def test_schema_is_a_json_schema(call: Call) -> None:
    code, out, err = call("schema")
    assert (code, err) == (0, "")
    schema = json.loads(out)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert set(schema["properties"]) >= {
        "scenario",
        "time",
        "auditor",
        "labs",
        "sweep",
        "evidence",
        "sources",
    }


def test_new_writes_a_scenario_that_validates_and_never_overwrites(call: Call, tmp_path: Path) -> None:
    code, out, err = call("new", "my-study")
    assert (code, err) == (0, "")
    assert "my-study.toml" in out
    text = (tmp_path / "my-study.toml").read_text()
    assert call("validate", "my-study.toml").code == 0
    code, out, err = call("new", "my-study.toml")
    assert (code, out) == (2, "")
    assert err == "my-study.toml: exists already, and is left as it is\n"
    assert (tmp_path / "my-study.toml").read_text() == text


@pytest.mark.parametrize("name", ["my study", "it's; echo $HOME", "-x", "--help", "a\nb", 'say "so"'])
def test_the_command_that_new_prints_can_be_copied_into_a_shell(
    call: Call, tmp_path: Path, name: str
) -> None:
    code, out, err = call("new", "--", name)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 1
    words = shlex.split(out.partition("Check it with: ")[2])
    assert words[:2] == ["deniability", "validate"]
    if name.isprintable():  # a line break is shown, so that the line stays one
        assert words[2:] == [f"./{name}.toml" if name.startswith("-") else f"{name}.toml"]
        assert call(*words[1:]).code == 0
        # and so can those in the file's own comment
        (run,) = [line for line in (tmp_path / f"{name}.toml").read_text().splitlines() if " run " in line]
        assert shlex.split(run.removeprefix("#"))[2:] == words[2:]
    assert call("validate", f"./{name}.toml").code == 0


@pytest.mark.parametrize("name", ["no/such/folder", "", ".toml", "a\0b", "x" * 300])
def test_new_where_it_cannot_write(call: Call, name: str) -> None:
    code, out, err = call("new", name)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1


BAD: dict[str, tuple[bytes, str]] = {
    "broken": (b"[a\n", "not valid TOML"),
    "empty": (b"", "empty"),
    "comment only": (b"# nothing\n", "empty"),
    "not UTF-8": (b"[a]\nb = '\xff'\n", "not UTF-8"),
    "UTF-16": ("[a]".encode("utf-16"), "UTF-16"),
    "null byte": (b"[a]\n\x00", "null byte"),
    "100 MB": (b"#" * (100 * 2**20), "larger than"),
    "deep lists": (b"a = " + b"[" * 10_000, "nested too deeply"),
    "deep tables": (b"a" + b".a" * 10_000 + b" = 1", "nested too deeply"),
    "circle": (b"[scenario]\nextends = ['study.toml']\n", "a circle"),
    "missing parent": (b"[scenario]\nextends = ['five-lab']\n", "did you mean five-labs?"),
    "no labs": (b"[time]\nperiods = 3\n", "labs: missing"),
    "unknown key": (LAB.encode() + b"[auditor]\ndetla = 1\n", "did you mean auditor.delta?"),
    "unknown name": (LAB.encode() + b"[auditor]\ncounter = 'toplitz'\n", 'did you mean "toeplitz"?'),
    "out of bounds": (
        LAB.encode() + b"[auditor]\ndelta = 1\n",
        "must be a number greater than 0 and less than 1",
    ),
    "not a number": (LAB.encode() + b"[auditor]\ndelta = nan\n", "auditor.delta = nan"),
    "infinite": (LAB.encode() + b"[incidents]\nrate = inf\n", "incidents.rate = inf"),
    "text for a number": (LAB.encode() + b"[auditor]\ndelta = '0.1'\n", 'auditor.delta = "0.1"'),
    "true for a number": (LAB.encode() + b"[auditor]\ndelta = true\n", "auditor.delta = true"),
    "huge number": (LAB.encode() + b"[time]\nperiods = " + b"9" * 4000, "a number of more than 40 digits"),
    "too many digits": (LAB.encode() + b"[time]\nperiods = " + b"9" * 5000, "too many digits"),
    "bad sweep": (
        LAB.encode() + b"[sweep.grid]\n'auditor.delta' = [0.1, 0.2, 3]\n",
        'sweep.grid."auditor.delta"[2] = 3',
    ),
}


@pytest.mark.parametrize("verb", ["validate", "show"])
@pytest.mark.parametrize("kind", BAD)
def test_every_bad_file_is_one_clear_message(call: Call, tmp_path: Path, verb: str, kind: str) -> None:
    content, message = BAD[kind]
    (tmp_path / "study.toml").write_bytes(content)
    code, out, err = call(verb, "study.toml")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("study.toml")
    assert message in err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("five-lab", "five-lab: no shipped scenario of that name, and no such file; did you mean five-labs?"),
        ("study.tml", "study.tml: no such file"),
        (".", ".: a directory; name a TOML file in it"),
        ("", "no scenario given"),
        ("a\0b", "a\\x00b: a path cannot contain a null byte"),
        ("\udcff.toml", "\\udcff.toml: no such file"),
        ("x" * 5000, "cannot be read: File name too long"),
        ("/dev/zero", "/dev/zero: larger than"),
    ],
)
def test_every_bad_source_is_one_clear_message(call: Call, source: str, message: str) -> None:
    for verb in ("validate", "show"):
        code, out, err = call(verb, source)
        assert (code, out) == (2, "")
        assert len(err.splitlines()) == 1
        assert message in err


@pytest.mark.parametrize(
    "setting", ["auditor.delta", "=3", "auditor.detla=1", "labs.lab-z.employees=3", "auditor.delta=x"]
)
def test_every_bad_setting_is_one_clear_message(call: Call, setting: str) -> None:
    code, out, err = call("show", "five-labs", "--set", setting)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("--set")


def test_usage(call: Call) -> None:
    for arguments in (["validate"], ["show"], ["new"], ["show", "five-labs", "--no-such-option"]):
        assert call(*arguments).code == 2
    help_: Any = call("--help")
    assert help_.code == 0
    assert all(verb in help_.out for verb in ("list", "show", "new", "validate", "schema"))
