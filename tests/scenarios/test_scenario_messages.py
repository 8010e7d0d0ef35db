"""What is said about a wrong scenario: file, line, key, what was given, what is allowed, what was likely meant."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniability.scenarios import InputError, resolve, resolve_tree
from deniability.scenarios.files import SIZE_LIMIT

from .strategies import PLAIN, junk

Problems = Callable[..., tuple[str, ...]]
Write = Callable[..., Path]

LAB = "[labs.lab-a]\nemployees = 10\n"  # lines 1 and 2 of most texts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[auditor]\ndelta = 1.5",
            "study.toml:4: auditor.delta = 1.5: must be a number greater than 0 and less than 1 (probability)",
        ),
        ("auditor.delta = '0.1'", None),
        (
            "[access]\nmedian_access = true",
            "study.toml:4: access.median_access = true: must be a number from 1 to 10000000 (people)",
        ),
        (
            "[time]\nperiods = 104.0",
            "study.toml:4: time.periods = 104.0: must be a whole number from 1 to 1000000 (periods)",
        ),
        (
            "[incidents]\nrate = nan",
            "study.toml:4: incidents.rate = nan: must be a number from 0 to 10000 (1/year)",
        ),
        (
            "[incidents]\nrate = inf",
            "study.toml:4: incidents.rate = inf: must be a number from 0 to 10000 (1/year)",
        ),
        (
            "[auditor]\n\n\nscope = 'report-lead'",
            'study.toml:6: auditor.scope = "report-lead": must be one of "independent", "report-led"; '
            'did you mean "report-led"?',
        ),
        ("[auditor]\npublished = 1", "study.toml:4: auditor.published = 1: must be true or false"),
        ("[time]\nperiods = 1979-05-27", None),
        (
            "[employees.decision]\ntrust = {a = 1, b = [1, 2]}",
            "study.toml:4: employees.decision.trust = {a = 1, b = [1, 2]}: must be a number from 0 to 1 (factor)",
        ),
        ("[[auditor]]\ndelta = 0.1", "study.toml:3: auditor = [{delta = 0.1}]: must be a table"),
        (
            "[labs.lab-b]",
            "study.toml:3: labs.lab-b.employees: missing: must be a whole number from 0 to 100000000 (people)",
        ),
        (
            "[labs.lab-b]\nemployees = 1\ntargets = ['a', 'b', 'a']",
            'study.toml:5: labs.lab-b.targets = ["a", "b", "a"]: must be every name once; repeated: a',
        ),
        ("[labs.lab-b]\nemployees = 1\ntargets = []", None),
        (
            "[labs.Lab]\nemployees = 1",
            "study.toml:3: labs.Lab: a lab's id must be lower-case letters and digits, joined by single hyphens",
        ),
        (
            "[employees.beliefs]\nsafe_visibility = 0.9\nretaliation_visibility = 0.9",
            "study.toml:3: employees.beliefs: safe_visibility (0.9) must be less than retaliation_visibility (0.9)",
        ),
        (
            "[auditor]\nhorizon = 5",
            "study.toml:4: auditor.horizon = 5: less than time.periods = 104, so the guarantee would end before "
            "the run; auditor.renewal = true starts it afresh, at a price",
        ),
        (
            "[auditor]\nmechanism = 'TCAA'",
            'study.toml:4: auditor.mechanism = "TCAA": there is no such name; did you mean "tca"?; '
            "known: exponential, greedy, rr, tca, uniform",
        ),
        (
            "[labs.lab-a.organization]\ninference = 'time'",
            'study.toml:4: labs.lab-a.organization.inference = "time": there is no such name; '
            'did you mean "timing"?; '
            "known: bayes, strong, timing",
        ),
        (
            "[labs.lab-a.organization]\nbudget = -1",
            "study.toml:4: labs.lab-a.organization.budget = -1: must be a whole number from 0 to 1000000 (people)",
        ),
        ("[evidence]\n'auditor.delta' = 3", 'study.toml:4: evidence."auditor.delta" = 3: must be text'),
        (
            "[evidence]\n'auditor.delta' = ' '",
            'study.toml:4: evidence."auditor.delta": empty; give a key of [sources], or "assumption: why"',
        ),
        (
            "[evidence]\n'auditor.delta' = 'smith-2021: x'\n[sources]\nsmith-2020 = 'Smith'",
            'study.toml:4: evidence."auditor.delta": [sources] has no "smith-2021"; did you mean "smith-2020"?',
        ),
        (
            "[evidence]\n'a b' = 'x y'",
            'study.toml:4: evidence."a b": "a b" is no dotted path such as auditor.delta',
        ),
    ],
)
def test_one_problem_one_line(problems: Problems, text: str, message: str | None) -> None:
    (told,) = problems(text + "\n" + LAB if text.startswith("auditor.") else LAB + text)
    assert told.isprintable()
    if message:
        assert told == message


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[auditor]\ndetla = 0.1", "auditor.delta"),
        ("[auditer]\ndelta = 0.1", "auditor"),
        ("[organization]\nprior = 0.1", "organizations"),
        ("[employee.beliefs]\ndecay = 0.9", "employees"),
        ("[employees.belief]\ndecay = 0.9", "employees.beliefs"),
        ("[auditor]\nretaliation_probability = 0.1", "organizations.retaliation_probability"),
        ("[time]\ndelta = 0.1", "auditor.delta"),
        ("[labs.lab-a.access]\nmedian = 3", "labs.lab-a.access.median_access"),
        ("[labs.lab-a.organization]\nbugdet = 3", "labs.lab-a.organization.budget"),
        ("[labs.lab-a.access]\nprior = 0.3", "labs.lab-a.organization.prior or organizations.prior"),
        ("[auditor]\nauditsPerPeriod = 1", "auditor.audits_per_period"),
        ("[auditor]\nDELTA = 0.1", "auditor.delta"),
        ("[evidence]\n'auditor.dleta' = 'assumption: x'", "auditor.delta"),
        ("[evidence]\n'labs.lab-b.employees' = 'assumption: x'", "labs.lab-a"),
        ("[sweep.grid]\n'auditor.dleta' = [0.1]", "auditor.delta"),
        ("[sweep.grid]\n'delta' = [0.1]", "auditor.delta"),
        ("[sweep.grid]\n'labs.lab-b.employees' = [1]", "labs.lab-a"),
        ("[sweep]\nreplicate = 3", "sweep.replicates"),
    ],
)
def test_the_key_that_was_likely_meant(problems: Problems, text: str, meant: str) -> None:
    (told,) = problems(LAB + text)
    assert told.endswith(f"; did you mean {meant}?")


def test_a_key_at_the_top_of_the_file_is_found_in_its_table(problems: Problems) -> None:
    assert problems("delta = 0.1\n" + LAB) == (
        "study.toml:1: delta: unknown key; did you mean auditor.delta?",
    )


def test_where_nothing_is_similar_the_allowed_keys_are_listed(problems: Problems) -> None:
    assert problems(LAB + "[time]\nxyzzy = 1") == (
        "study.toml:4: time.xyzzy: unknown key; [time] has periods, period_weeks",
    )


def test_all_problems_at_once_in_the_order_of_the_file(problems: Problems) -> None:
    told = problems(
        "[auditor]\ndelta = 2\nmechanism = 'tcaa'\n[labs.lab-a]\ntargets = ['x', 'x']\n[incidents]\nrat = 1\n"
        "[sweep.grid]\n'auditor.delta' = [0.1, 2]\n'auditor.mechanism' = ['gredy']\n"
        "[evidence]\nauditor2 = 'assumption: x'\n",
        "time.periods=0",
        "nonsense",
        "a b=1",
    )
    assert [message.partition(" = ")[0] for message in told] == [
        "--set nonsense: needs KEY=VALUE, for example auditor.delta=0.2",
        "--set a b=1: 'a b' is no dotted path such as auditor.delta",
        "--set: time.periods",
        "study.toml:2: auditor.delta",
        "study.toml:3: auditor.mechanism",
        "study.toml:4: labs.lab-a.employees: missing: must be a whole number from 0 to 100000000 (people)",
        "study.toml:5: labs.lab-a.targets",
        "study.toml:7: incidents.rat: unknown key; did you mean incidents.rate?",
        'study.toml:9: sweep.grid."auditor.delta"[1]',
        'study.toml:10: sweep.grid."auditor.mechanism"[0]',
        "study.toml:12: evidence.auditor2: there is no auditor2; did you mean auditor?",
    ]


def test_a_problem_is_laid_at_the_door_of_the_file_that_has_it(write: Write) -> None:
    write("[labs.lab-a]\nemployees = 3\n[auditor]\ndelta = 3\n", "base.toml")
    with pytest.raises(InputError) as error:
        resolve(write("[scenario]\nextends = ['base']\n[time]\nperiods = 0\n"))
    assert [message.split(" = ")[0] for message in error.value.messages] == [
        "base.toml:4: auditor.delta",
        "study.toml:4: time.periods",
    ]
    # and what the file itself puts right is no problem
    resolve(write("[scenario]\nextends = ['base']\n[auditor]\ndelta = 0.3\n"))


def test_a_file_without_labs_says_what_is_needed(problems: Problems) -> None:
    (told,) = problems("[auditor]\ndelta = 0.1\n")
    assert (
        told == "study.toml: labs: missing: at least one [labs.<id>] with its number of employees is needed"
    )
    (told,) = problems("[labs]\n")
    assert (
        told == "study.toml:1: labs: empty: at least one [labs.<id>] with its number of employees is needed"
    )


# files that are no scenario at all


def refusal(source: str | Path) -> str:
    with pytest.raises(InputError) as error:
        resolve(source)
    (message,) = error.value.messages
    assert message.isprintable()
    return message


def test_broken_toml_with_line_and_column(write: Write) -> None:
    assert refusal(write("[a]\nb = \n")) == "study.toml:2:5: not valid TOML: invalid value"
    assert refusal(write("a = 1\na = 2\n")).startswith("study.toml:2:")
    assert refusal(write("a = [1,\n")).startswith("study.toml:1: not valid TOML")
    assert "too many digits" in refusal(write(f"a = 1{'0' * 5000}"))


def test_files_that_hold_no_scenario(write: Write, tmp_path: Path) -> None:
    assert refusal(write("")).startswith("study.toml: empty")
    assert refusal(write("# nothing\n")).startswith("study.toml: empty")
    assert refusal(str(tmp_path)) == f"{tmp_path}: a directory; name a TOML file in it"
    Path("study.toml").write_bytes(b"[a]\n# caf\xe9\n")
    assert refusal("study.toml") == "study.toml:2: not UTF-8 (byte 0xe9); save it as UTF-8"
    Path("study.toml").write_bytes("a = 1".encode("utf-16"))
    assert refusal("study.toml") == "study.toml: UTF-16; save it as UTF-8"
    Path("study.toml").write_bytes(b"[a]\nb = 1\n\x00")
    assert refusal("study.toml") == "study.toml:3: contains a null byte, so it is no text file"
    with Path("study.toml").open("wb") as file:
        file.truncate(100 * 2**20)
    assert refusal("study.toml") == f"study.toml: larger than {SIZE_LIMIT // 2**20} MB, so hardly a scenario"
    assert refusal("/dev/zero").endswith("so hardly a scenario")


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 5000 + "]" * 5000, "a" + ".a" * 5000 + " = 1", "a = " + "{a = " * 100 + "1" + "}" * 100],
)
def test_deep_nesting(write: Write, text: str) -> None:
    assert refusal(write(text)) == "study.toml: nested too deeply for a scenario"


def test_a_missing_file_names_what_was_likely_meant(write: Write) -> None:
    write(LAB)
    assert refusal("five-lab") == (
        "five-lab: no shipped scenario of that name, and no such file; did you mean five-labs?"
    )
    assert refusal("Five_Labs.toml") == "Five_Labs.toml: no such file; did you mean five-labs?"
    assert "shipped: " in refusal("qqqqqqqq")
    assert refusal("study.toml/x").startswith("study.toml/x: no such file")
    assert refusal("no/such/folder.toml").startswith("no/such/folder.toml: no such file")
    assert refusal("").startswith("no scenario given")
    assert refusal("a\0b") == "a\\x00b: a path cannot contain a null byte"
    assert "cannot be read" in refusal("x" * 5000)
    Path("link.toml").symlink_to("nowhere.toml")
    assert refusal("link.toml") == "link.toml: a link to a file that is not there"
    Path("loop.toml").symlink_to("loop.toml")
    assert "loop.toml: cannot be read" in refusal("loop.toml")


def test_no_permission(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(LAB)
    monkeypatch.setattr(Path, "open", refused)  # root may read everything, so the refusal is made up
    assert refusal(path) == "study.toml: no permission to read it"


def test_a_shipped_name_wins_and_a_path_says_file(write: Write) -> None:
    write("[scenario]\nextends = ['five-labs']\n[incidents]\nrate = 3\n", "five-labs.toml")
    write(LAB, "five-labs")
    assert resolve("five-labs").config.incidents.rate == 1
    assert resolve("./five-labs").config.labs["lab-a"].employees == 10
    assert resolve("five-labs.toml").config.incidents.rate == 3


def test_a_byte_order_mark_and_windows_lines_do_no_harm(write: Write) -> None:
    Path("study.toml").write_bytes(
        b"\xef\xbb\xbf[labs.lab-a]\r\nemployees = 10\r\n[incidents]\r\nrate = 2\r\n"
    )
    scenario = resolve("study.toml")
    assert str(scenario.origins["incidents.rate"]) == "study.toml:4"


# whatever comes in, it is a scenario or messages that any terminal can show


def told(tree: dict[str, object], *overrides: str | tuple[str, object]) -> tuple[str, ...]:
    try:
        resolve_tree(tree, overrides)
    except InputError as error:
        return error.messages
    return ()


@given(st.sampled_from(sorted(PLAIN)), junk)
def test_any_value_anywhere(path: str, value: object) -> None:
    assert all(
        message.isprintable() for message in told({"labs": {"lab-a": {"employees": 10}}}, (path, value))
    )


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(["labs", "auditor", "sweep", "evidence", "scenario", "x"]), junk))
def test_any_table_of_anything(tree: dict[str, object]) -> None:
    messages = told(tree)
    assert messages
    assert all(message.isprintable() for message in messages)


@given(st.text(max_size=30))
def test_any_setting(text: str) -> None:
    messages = told({"labs": {"lab-a": {"employees": 10}}}, text, f"auditor.delta={text}", f"{text}=1")
    assert all(message.isprintable() for message in messages)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60) | st.text("[]{}=.\"'#\n\\ ab1,", max_size=40).map(str.encode))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    with pytest.raises(InputError):
        resolve(path)
