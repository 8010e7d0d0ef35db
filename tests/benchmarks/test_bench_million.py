"""A million employees: a year of weekly audits within two gigabytes; the processor time is printed."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, resource, tempfile, time
from datetime import UTC, datetime
from pathlib import Path
from deniability.simulation import load_scenario, run
from deniability.simulation.run_files import write_run
words = ["employees.scale=79", "time.periods=52", "colleagues.generator={colleagues}"]
result = run(load_scenario("five-labs", mechanism="exponential", overrides=words))
with tempfile.TemporaryDirectory() as folder:
    write_run(result, Path(folder) / "out", command=["run"], started=datetime.now(UTC))
print(json.dumps({{
    "seconds": time.process_time(),
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "people": len(result.tables["people"]),
    "departures": result.metrics["departures"],
}}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("colleagues", ["teams", "stochastic-block"])
def test_a_year_of_a_million_employees_fits_in_two_gigabytes(colleagues: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(colleagues=colleagues)],
        capture_output=True,
        text=True,
        check=True,
    )
    spent = json.loads(done.stdout)
    # everything is counted: imports, the run, all tables and figures written
    print(
        f"\na year of 10^6 employees, {colleagues}: {spent['seconds']:.0f} s of processor time (goal <= 60)"
    )
    assert spent["megabytes"] < 2000
    assert spent["people"] > 1_000_000
    assert spent["departures"] == pytest.approx(100_330, rel=0.02)  # a tenth of the staff
