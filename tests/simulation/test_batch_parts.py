"""What is on disk stays whole: damaged parts, full disks, locks, and directories of something else."""

import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from deniability.scenarios import InputError
from deniability.simulation import batch_directory, parts
from deniability.simulation.batch_errors import BatchError
from deniability.simulation.locks import LOCK, locked
from deniability.simulation.parts import PartIndex, Parts

from .batch_makers import STUDY, contents, make, study


@pytest.fixture
def small(tmp_path):
    """Four runs in four parts."""
    return study(tmp_path, STUDY, "sweep.replicates=1")


def damage(path: Path, how: str) -> None:
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "cut short": whole[:-7],
            "empty": b"",
            "one bit": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "no parquet": b"something else",
        }[how]
    )


@pytest.mark.parametrize("how", ["cut short", "empty", "one bit", "no parquet"])
def test_a_damaged_part_is_set_aside_and_its_runs_are_made_again(small, tmp_path, how):
    make(small, tmp_path / "out")
    expected = contents(tmp_path / "out")
    victim = sorted((tmp_path / "out" / "parts").iterdir())[1]
    damage(victim, how)
    told = []
    again = make(small, tmp_path / "out", tell=told.append)
    assert again.n_made == 1
    assert contents(tmp_path / "out") == expected
    assert told == [
        f"{victim} is damaged (cut short or changed): it is set aside as {victim.name}.corrupt, and its runs are "
        "made again."
    ]
    assert (victim.parent / f"{victim.name}.corrupt").exists()
    assert make(small, tmp_path / "out", tell=told.append).n_made == 0
    assert len(told) == 1


def test_what_a_killed_batch_was_writing_is_cleared_away(small, tmp_path):
    make(small, tmp_path / "out")
    expected = contents(tmp_path / "out")
    left = [
        tmp_path / "out" / "parts" / ".writing-000009-0123456789abcdef.parquet",
        tmp_path / "out" / ".tables-x" / "runs.parquet",
    ]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    sorted((tmp_path / "out" / "parts").glob("0*"))[0].unlink()
    assert make(small, tmp_path / "out").n_made == 1
    assert contents(tmp_path / "out") == expected
    assert not any(path.exists() for path in left)
    assert not (tmp_path / "out" / LOCK).exists()


@pytest.mark.parametrize("writes_before", [0, 1, 2, 4])
def test_a_full_disk_is_told_and_loses_nothing(small, tmp_path, monkeypatch, writes_before):
    # the first write is the manifest, then come the parts
    make(small, tmp_path / "whole")
    n_writes = 0
    write = parts.synced_write

    def full(path, content):
        nonlocal n_writes
        n_writes += 1
        if n_writes > writes_before:
            path.write_bytes(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, content)

    with monkeypatch.context() as patched:
        for module in (parts, batch_directory):
            patched.setattr(module, "synced_write", full)
        with pytest.raises(BatchError) as ended:
            make(small, tmp_path / "out")
    told = str(ended.value)
    assert told.startswith("Writing failed: No space left on device (")
    done = max(writes_before - 1, 0)
    assert f"{done} of 4 runs are done and kept in {tmp_path / 'out'}; the same command goes on" in told
    assert not list((tmp_path / "out").rglob(".writing*"))
    assert make(small, tmp_path / "out").n_made == 4 - done
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_disk_that_is_really_full(small, tmp_path):
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        with pytest.raises(BatchError, match=r"No space left on device.* of 4 runs are done and kept in"):
            make(small, place / "out")
        subprocess.run(["mount", "-o", "remount,size=10m", str(place)], check=True)
        there = len(PartIndex.of(Parts(place / "out" / "parts"), lambda path: pytest.fail(f"{path}")))
        result = make(small, place / "out")
        assert 0 < there < 4
        assert result.n_made == 4 - there
        make(small, tmp_path / "whole")
        assert contents(place / "out") == contents(tmp_path / "whole")
    finally:
        subprocess.run(["umount", str(place)], check=True)


def unwritable(tmp_path: Path) -> Path:
    if os.geteuid() != 0:
        tmp_path.chmod(0o555)
        return tmp_path / "out"
    if not Path("/sys/kernel").is_dir():
        pytest.skip("the superuser may write everywhere here")
    return Path("/sys/kernel/deniability-batch")


def test_a_place_that_cannot_be_written_is_bad_input(small, tmp_path):
    place = unwritable(tmp_path)
    with pytest.raises(InputError, match=f"--out {place}: cannot write there "):
        make(small, place)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="this is a file, not a directory"):
        make(small, tmp_path / "file")


def test_two_batches_on_one_directory(small, tmp_path):
    out = tmp_path / "out"
    make(small, out)
    with (
        locked(out, pytest.fail),
        pytest.raises(
            InputError,
            match=rf"another batch is at work here \(host {socket.gethostname()}, process {os.getpid()}, since 20",
        ),
    ):
        make(small, out, replicates=2)
    assert make(small, out, replicates=2).n_made == 4


def test_a_lock_in_another_process_holds_and_goes_with_it(tmp_path):
    hold = (
        "import sys; from pathlib import Path; from deniability.simulation.locks import locked\n"
        "with locked(Path(sys.argv[1]), print): print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=f"process {holder.pid}"), locked(tmp_path, pytest.fail):
            pass
        holder.kill()
    told = []
    with locked(tmp_path, told.append):
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
    assert len(told) == 1
    assert f"process {holder.pid}, since" in told[0]
    assert told[0].endswith("ended without a farewell; its lock is taken over.")
    assert not (tmp_path / LOCK).exists()


def test_a_lock_of_another_machine_is_left_alone(small, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / LOCK).write_text('{"host": "elsewhere", "pid": 1, "started": "2026-01-01T00:00:00"}')
    with pytest.raises(InputError, match=r"host elsewhere, process 1, .* if it is gone, delete"):
        make(small, out)
    (out / LOCK).unlink()
    assert make(small, out).n_made == 4


def refusal(scenario, out: Path, **options) -> str:
    with pytest.raises(InputError) as refused:
        make(scenario, out, **options)
    return str(refused.value)


def test_another_batch_is_refused_with_what_differs(small, tmp_path, monkeypatch):
    out = tmp_path / "out"
    make(small, out)
    before = contents(out)
    other = study(tmp_path, STUDY, "sweep.replicates=1", "incidents.rate=4.5", "labs.lab-b.employees=31")
    told = refusal(other, out)
    assert "incidents.rate: 30.0 there, 4.5 now." in told
    assert "labs.lab-b.employees: 30 there, 31 now." in told
    assert "employees.scale" not in told
    assert "--force" in told
    assert "Root seed: 1 there, 2 now." in refusal(small, out, seed=2)
    assert "Event logs: not kept there, kept now." in refusal(small, out, events=True)
    with monkeypatch.context() as patched:
        manifest = json.loads((out / "manifest.json").read_text())
        manifest["code_hash"] = "0" * 64
        manifest["modules"]["agents/base.py"] = "0" * 64
        manifest["versions"]["numpy"] = "1.0"
        patched.setattr(batch_directory, "read_manifest", lambda _path: manifest)
        told = refusal(small, out)
        assert "The installed code is not the same: agents/base.py." in told
        assert "Versions: numpy 1.0 there, " in told
    assert contents(out) == before
    forced = make(other, out, force=True)
    assert forced.n_made == 4
    assert make(small, out, force=True).n_made == 0  # its runs are still there
    assert contents(out) == before


def test_event_logs_asked_for_later_make_the_runs_again(small, tmp_path):
    make(small, tmp_path / "out")
    result = make(small, tmp_path / "out", events=True, force=True)
    assert result.n_made == 4
    make(small, tmp_path / "whole", events=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_folder_of_somebody_elses_is_left_alone(small, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    assert "not empty and holds no results of ours" in refusal(small, tmp_path)
    (tmp_path / "manifest.json").write_text('{"kind": "run", "identity": "x"}')
    assert "holds results of something else (run, not batch)" in refusal(small, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "study.toml", "thesis.tex"]
