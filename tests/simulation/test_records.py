"""The event log: rows come out as they went in, by whichever way."""

import pandas as pd

from deniability.simulation.records import EventLog


def test_a_row_by_name_and_a_row_in_order_are_the_same():
    by_name, in_order = EventLog(), EventLog()
    record = in_order.recorder("departures")
    for row in [(0.5, 1, 7, "turnover"), (1.25, 0, 3, "retaliation")]:
        by_name.record("departures", **dict(zip(("time", "lab", "person", "reason"), row, strict=True)))
        record(row)
    assert in_order.count("departures") == 2
    pd.testing.assert_frame_equal(in_order.frame("departures"), by_name.frame("departures"))
    assert in_order.frame("departures")["person"].tolist() == [7, 3]


def test_rows_keep_their_order_whichever_way_they_came():
    log = EventLog()
    log.record("departures", time=0.5, lab=1, person=7, reason="turnover")
    log.recorder("departures")((1.25, 0, 3, "purge"))
    log.record("departures", time=2.0, lab=1, person=8, reason="turnover")
    assert log.frame("departures")["person"].tolist() == [7, 3, 8]
