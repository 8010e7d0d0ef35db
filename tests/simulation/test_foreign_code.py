"""A batch is not taken up again, and no worker takes part in it, once code from outside has changed."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from deniability.agents import registry
from deniability.agents.auditor.mechanisms import MECHANISMS
from deniability.agents.organization.inference import INFERENCES
from deniability.agents.registry import load_plugin
from deniability.scenarios import InputError
from deniability.simulation import distributions, foreign_code, import_walk, load_batch, run
from deniability.simulation.batch_errors import EnvironmentDiffersError
from deniability.simulation.batch_plan import BatchPlan
from deniability.simulation.chunks import Chunk, Environment, run_chunk
from deniability.simulation.run_files import write_run

from .batch_makers import STUDY, contents, make, study

RULE = '''
"""A uniform audit under another name."""

from deniability.agents.auditor.mechanisms.uniform import Uniform
from {helper} import FACTOR


class Mine(Uniform):
    id = "{id}"
'''

SLOW = """
from deniability.agents.organization.inference.timing import Timing


class Slow(Timing):
    id = "slow"
"""

SMALL = STUDY.replace("[0.1, 0.4]", "[0.1]")


def forget():
    """What a new process does not know."""
    for cached in (foreign_code._imports_of, foreign_code._of_entry, distributions._by_top):
        cached.cache_clear()
    import_walk._sources.clear()
    registry._plugins.clear()
    for name in [name for name in sys.modules if name.startswith("fc_")]:
        del sys.modules[name]
    sys.path_importer_cache.clear()
    MECHANISMS._n_plugins = INFERENCES._n_plugins = -1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder on the search path, with a distribution (fc-lab) that brings the mechanism `patient`, and a plugin."""
    monkeypatch.setattr(registry, "_plugins", {})
    path = tmp_path / "code"
    package, info = path / "fc_lab", path / "fc_lab-1.0.dist-info"
    for made in (package, info):
        made.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "rules.py").write_text(RULE.format(helper="fc_lab.tables", id="patient"), encoding="utf-8")
    (package / "tables.py").write_text("FACTOR = 1\n", encoding="utf-8")
    (package / "slow.py").write_text(SLOW, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fc-lab\nVersion: 1.0\n", encoding="utf-8")
    (info / "RECORD").write_text(
        "fc_lab/__init__.py,,\nfc_lab/rules.py,,\nfc_lab/tables.py,,\n", encoding="utf-8"
    )
    (info / "WHEEL").write_text("Wheel-Version: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[deniability.mechanisms]\npatient = fc_lab.rules:Mine\n"
        "[deniability.inference]\nslow = fc_lab.slow:Slow\n",
        encoding="utf-8",
    )
    (path / "mine.py").write_text(RULE.format(helper="fc_helper", id="mine"), encoding="utf-8")
    (path / "fc_helper.py").write_text("FACTOR = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(path)
    forget()
    yield path
    forget()


def small(tmp_path, *mechanisms):
    return study(tmp_path, SMALL.replace('["greedy", "exponential"]', json.dumps(mechanisms)))


def refusal(scenario, out):
    with pytest.raises(InputError) as refused:
        make(scenario, out)
    return str(refused.value)


def short(text):
    return sha256(text.encode()).hexdigest()[:8]


CHANGE = f"{short('FACTOR = 1\n')} there, {short('FACTOR = 2\n')} now"


def test_a_mechanism_of_an_installed_distribution_cannot_change_under_a_batch(folder, tmp_path):
    scenario = small(tmp_path, "patient", "greedy")
    make(scenario, tmp_path / "out")
    before = contents(tmp_path / "out")
    noted = json.loads((tmp_path / "out" / "manifest.json").read_text())["foreign_code"]
    assert {label: set(sources) for label, sources in noted.items()} == {
        "entry point fc_lab.rules:Mine": {"fc_lab", "fc_lab.rules", "fc_lab.tables"}
    }
    forget()
    assert make(scenario, tmp_path / "out").n_made == 0  # unchanged, it goes on
    (folder / "fc_lab" / "tables.py").write_text("FACTOR = 2\n", encoding="utf-8")
    forget()
    told = refusal(scenario, tmp_path / "out")
    assert f"Foreign code, entry point fc_lab.rules:Mine: fc_lab.tables {CHANGE}." in told
    assert "fc_lab.rules " not in told  # only what differs
    assert contents(tmp_path / "out") == before


def test_an_entry_point_that_no_cell_names_changes_nothing(folder, tmp_path):
    scenario = small(tmp_path, "uniform", "greedy")
    make(scenario, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["foreign_code"] == {}
    (folder / "fc_lab" / "tables.py").write_text("FACTOR = 2\n", encoding="utf-8")
    forget()
    assert make(scenario, tmp_path / "out", replicates=4).n_made == 2


@pytest.mark.parametrize(
    "text",
    [
        STUDY.replace('["greedy", "exponential"]', '["greedy", "patient"]'),
        STUDY.replace("[access]", '[labs.lab-b.organization]\ninference = "slow"\n[access]'),
        STUDY + '[[changes]]\nat = 2\nset = { "organizations.inference" = "slow" }\n',
    ],
)
def test_an_id_counts_wherever_a_scenario_may_name_it(folder, tmp_path, text):
    plan = BatchPlan.of(study(tmp_path, text), 1)
    found = foreign_code.foreign_code(cell.config for cell in plan.cells)
    assert [one.name for one in found] == ["slow" if "slow" in text else "patient"]


def test_what_a_plugin_imports_cannot_change_under_a_batch(folder, tmp_path):
    load_plugin(folder / "mine.py")
    make(small(tmp_path, "mine", "greedy"), tmp_path / "out")
    (folder / "fc_helper.py").write_text("FACTOR = 2\n", encoding="utf-8")
    forget()
    load_plugin(folder / "mine.py")
    told = refusal(small(tmp_path, "mine", "greedy"), tmp_path / "out")
    assert f"Foreign code, plugin mine.py: fc_helper {CHANGE}." in told
    assert "Plugins:" not in told  # the file itself is the same


def test_plugins_of_one_name_are_told_apart(folder, tmp_path):
    files = [folder / place / "mine.py" for place in ("one", "two")]
    for n, file in enumerate(files):
        file.parent.mkdir()
        file.write_text(RULE.format(helper="fc_helper", id=f"mine-{n}"), encoding="utf-8")
        load_plugin(file)
    make(small(tmp_path, "mine-0", "mine-1"), tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert set(manifest["plugins"]) == {"one/mine.py", "two/mine.py"}
    assert set(manifest["foreign_code"]) == {"plugin one/mine.py", "plugin two/mine.py"}
    for file in files:
        text = file.read_text()
        file.write_text(text + "\n# edited\n", encoding="utf-8")
        forget()
        for one in reversed(files):  # their order tells nothing
            load_plugin(one)
        told = refusal(small(tmp_path, "mine-0", "mine-1"), tmp_path / "out")
        assert f"two/mine.py ({manifest['plugins']['two/mine.py'][:8]})" in told
        file.write_text(text, encoding="utf-8")
    forget()
    for one in reversed(files):
        load_plugin(one)
    assert make(small(tmp_path, "mine-0", "mine-1"), tmp_path / "out").n_made == 0


def test_a_manifest_of_before_can_be_read_and_is_refused_only_if_it_cannot_tell(folder, tmp_path):
    for name, mechanism in (("without", "uniform"), ("with", "patient")):
        make(small(tmp_path, mechanism), tmp_path / name)
        path = tmp_path / name / "manifest.json"
        manifest = json.loads(path.read_text())
        del manifest["foreign_code"]
        path.write_text(json.dumps(manifest))
        assert load_batch(tmp_path / name).n_done == 3
    assert make(small(tmp_path, "uniform"), tmp_path / "without").n_made == 0
    assert "entry point fc_lab.rules:Mine" in refusal(small(tmp_path, "patient"), tmp_path / "with")


def test_a_plugin_that_was_edited_after_it_was_loaded_is_noted_as_it_was_loaded(folder, tmp_path):
    load_plugin(folder / "mine.py")
    loaded = sha256((folder / "mine.py").read_bytes()).hexdigest()
    (folder / "mine.py").write_text("raise SystemExit", encoding="utf-8")
    assert Environment.here().plugins == ((str((folder / "mine.py").resolve()), loaded),)


def test_a_worker_with_other_foreign_code_is_refused(folder, tmp_path):
    load_plugin(folder / "mine.py")
    plan = BatchPlan.of(small(tmp_path, "patient", "mine"), 1)
    here = Environment.here(cell.config for cell in plan.cells)
    plugin, entry = here.foreign
    chunk = Chunk(here, {0: plan.cells[0]}, (plan.run(0, 0),), False)
    assert run_chunk(chunk).errors == {}
    other = tuple((name, "0" * 64) for name, _ in entry.sources)
    for foreign, message in (
        (
            replace(entry, sources=other),
            r"entry point fc_lab.rules:Mine: fc_lab \w{8} \(here 00000000\), fc_lab.rules",
        ),
        (replace(plugin, sources=()), r"plugin mine.py: fc_helper \w{8} \(here not imported\)"),
        (replace(entry, name="nobody"), "lacks the entry point"),
        (replace(entry, group="deniability.inference"), "lacks the entry point"),
    ):
        with pytest.raises(EnvironmentDiffersError, match=message):
            run_chunk(replace(chunk, environment=replace(here, foreign=(foreign,))))
    with pytest.raises(
        EnvironmentDiffersError, match=r"a plugin of other content; .* start the worker again"
    ):
        run_chunk(replace(chunk, environment=replace(here, plugins=((here.plugins[0][0], "0" * 64),))))


def test_the_manifest_of_a_single_run_notes_foreign_code_too(folder, tmp_path):
    load_plugin(folder / "mine.py")
    write_run(
        run(
            small(tmp_path, "patient"),
            seed=1,
        ),
        tmp_path / "out",
        command=["deniability", "caf\udce9"],
        started=datetime.now(UTC),
    )
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert set(manifest["plugins"]) == {"mine.py"}
    assert set(manifest["foreign_code"]) == {"plugin mine.py"}  # it runs the scenario itself, not its sweep
    assert manifest["command"][1] == "caf\\udce9"


def test_worker_processes_agree_and_the_command_refuses_what_has_changed(folder, tmp_path):
    """From the outside: real workers find what the command finds, and a change in between is bad input."""
    mechanisms = '["patient", "mine", "greedy"]'
    text = SMALL.replace('["greedy", "exponential"]', mechanisms)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    bytes_name = os.fsencode(folder) + b"/caf\xe9.py"
    try:
        Path(os.fsdecode(bytes_name)).write_text((folder / "mine.py").read_text(), encoding="utf-8")
    except OSError:
        pytest.skip("this file system has no such names")
    command = [sys.executable, "-c", "from deniability.simulation.command_line import main; main()"]
    words = ["batch", "study.toml", "--out", "out", "--jobs", "1", "--quiet", "--plugin", bytes_name]
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])

    def call(*more):
        return subprocess.run(
            [*command, *words, *more],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    first = call()
    assert (first.returncode, first.stderr) == (0, "")
    assert call("--replicates", "4").returncode == 0
    (folder / "fc_helper.py").write_text("FACTOR = 2\n", encoding="utf-8")
    refused = call("--replicates", "5")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"Foreign code, plugin caf\\udce9.py: fc_helper {CHANGE}." in refused.stderr
