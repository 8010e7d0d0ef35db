"""Files that a scenario names: relative to who names them, refused if they cannot be read, known by content."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniability.scenarios import InputError, cell_config, content_hash, parameter_table, resolve, sweep_cells
from deniability.scenarios.linked import linked_files, read_linked
from deniability.scenarios.schema.base import FILE_UNIT

FILES = [row.path for row in parameter_table() if row.unit == FILE_UNIT]
STUDY = """
[labs.lab-a]
employees = 10
[access]
file = "graph.csv"
"""


@pytest.fixture
def study(write: Callable[..., Path]) -> Path:
    """A scenario in a folder of its own that names a file beside it."""
    Path("study").mkdir()
    write("employee,compartment\nann,x\n", "study/graph.csv")
    return write(STUDY, "study/study.toml")


def test_the_parameters_that_name_files() -> None:
    assert FILES == ["access.file", "access.nodes_file", "colleagues.file"]


def test_a_relative_path_starts_at_the_scenario_file(study: Path) -> None:
    assert resolve(study).config.access.file == str(study.parent.resolve() / "graph.csv")


def test_a_parents_path_starts_at_the_parent(study: Path, write: Callable[..., Path]) -> None:
    child = write('[scenario]\nextends = ["study/study"]\n', "child.toml")
    assert resolve(child).config.access.file == str(study.parent.resolve() / "graph.csv")


def test_a_settings_path_starts_at_the_working_directory(study: Path, write: Callable[..., Path]) -> None:
    write("employee,compartment\nbob,y\n", "other.csv")
    config = resolve(study, ["access.file=other.csv"]).config
    assert config.access.file == str(Path("other.csv").resolve())


def test_a_labs_own_file_and_a_swept_one_are_found_too(study: Path, write: Callable[..., Path]) -> None:
    write("employee,compartment\nbob,y\n", "study/other.csv")
    write(
        STUDY + '[labs.lab-a.access]\nfile = "other.csv"\n'
        '[sweep.grid]\n"colleagues.file" = ["", "graph.csv", "other.csv"]\n',
        "study/study.toml",
    )
    resolved = resolve(study)
    folder = study.parent.resolve()
    assert resolved.config.access_of("lab-a").file == str(folder / "other.csv")
    cells = [cell_config(resolved, cell) for cell in sweep_cells(resolved)]
    assert [cell.colleagues.file for cell in cells] == [
        "",
        str(folder / "graph.csv"),
        str(folder / "other.csv"),
    ]
    assert len({content_hash(cell) for cell in cells}) == 3


@pytest.mark.parametrize("path", FILES)
def test_the_content_counts_and_the_place_does_not(
    path: str, study: Path, write: Callable[..., Path]
) -> None:
    def hash_with(name: str) -> str:
        return content_hash(resolve(study, [f"{path}={name}"]).config)

    write("employee,compartment\nbob,y\n", "a.csv")
    write("employee,compartment\nbob,y\n", "b.csv")
    before = hash_with("a.csv")
    assert before == hash_with("b.csv")
    assert before != hash_with("study/graph.csv") or path == "access.file"
    write("employee,compartment\nbob,z\n", "a.csv")
    assert hash_with("a.csv") != before


def test_a_file_changed_after_loading_is_another_scenario(study: Path) -> None:
    config = resolve(study).config
    before, files = content_hash(config), linked_files(config)
    (study.parent / "graph.csv").write_text("employee,compartment\nann,y\n")
    assert content_hash(config) != before
    assert linked_files(config).keys() == files.keys()
    assert linked_files(config) != files
    (study.parent / "graph.csv").unlink()
    with pytest.raises(InputError, match="no such file"):
        content_hash(config)


def test_which_files_with_which_content(study: Path) -> None:
    (path, digest), *more = linked_files(resolve(study).config).items()
    assert (Path(path).name, more) == ("graph.csv", [])
    told = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout
    assert told.split()[0] == digest


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("grap.csv", 'access.file = "{folder}/grap.csv": no such file; in {folder} there are graph.csv'),
        (".", 'access.file = "{folder}": a directory; name a file in it'),
        ("no/graph.csv", "no such file; in {folder}/no there are no files, for there is no such folder"),
        ("a\\u0000b", "a path cannot contain a null byte"),
    ],
)
def test_a_file_that_cannot_be_read(
    value: str, message: str, study: Path, write: Callable[..., Path]
) -> None:
    write(STUDY.replace("graph.csv", value), "study/study.toml")
    with pytest.raises(InputError) as caught:
        resolve(study)
    (told,) = caught.value.messages
    assert told.startswith("study/study.toml:5: access.file")
    assert message.format(folder=study.parent.resolve()) in told


@pytest.mark.parametrize("value", ["3", "true", '["graph.csv"]', "{}"])
def test_a_path_is_text(value: str, problems: Callable[..., tuple[str, ...]]) -> None:
    (told,) = problems(STUDY.replace('"graph.csv"', value))
    assert told.startswith("study.toml:5: access.file = ")
    assert "must be text of at most 4096 characters (file)" in told


def test_a_swept_file_that_is_not_there(study: Path, write: Callable[..., Path]) -> None:
    write(STUDY + '[sweep.grid]\n"access.file" = ["graph.csv", "grahp.csv"]\n', "study/study.toml")
    with pytest.raises(InputError, match=r'sweep.grid."access.file"\[1\] = ".*grahp.csv": no such file'):
        resolve(study)


def test_reading(study: Path) -> None:
    assert read_linked(str(study.parent / "graph.csv")) == b"employee,compartment\nann,x\n"
    for broken in ("nowhere.csv", str(study.parent), "a\0b"):
        with pytest.raises(InputError):
            read_linked(broken)


def test_what_is_written_out_still_finds_its_file(study: Path, tmp_path: Path) -> None:
    from deniability.scenarios import to_toml

    elsewhere: Any = tmp_path / "elsewhere"
    elsewhere.mkdir()
    config = resolve(study).config
    (elsewhere / "copy.toml").write_text(to_toml(config), encoding="utf-8")
    assert resolve(elsewhere / "copy.toml").config.access == config.access
