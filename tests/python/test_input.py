"""Bad input gives one sentence with the place, the problem and the remedy."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import rigcal
from conftest import RIG, ROOT
from rigcal import _rigcal, _wire


def refused(*words, **arguments):
    """Expects an InputError of one line with these words."""
    with pytest.raises(rigcal.InputError) as reported:
        rigcal.calibrate(**{"rig": RIG, **arguments})
    for word in words:
        assert word in str(reported.value)
    assert "\n" not in str(reported.value)
    return reported.value


def test_recordings(frame, csv, tmp_path):
    time, angle = frame.columns[0], frame.columns[1]
    refused("no recording", recordings=[])
    refused("missing.csv", recordings=tmp_path / "missing.csv")
    refused("recording 1 is a int", recordings=[3])
    for function in (rigcal.calibrate, rigcal.crossvalidate, rigcal.validate, rigcal.check,
                     rigcal.load_recording):
        with pytest.raises(rigcal.InputError, match="recording 1 is a NoneType; give a path"):
            function(None, RIG)
    refused("given twice", recordings=[frame, frame])
    refused("given twice", recordings=[csv, str(csv)])
    refused("run of scenario", f'"{angle}"', "recording { }", recordings=frame[[time]])
    refused("recording 1", f'"{angle}"', recordings={time: frame[time]})
    refused("no column contains numbers", recordings=pd.DataFrame({"a": ["x", "y"]}))
    refused("shape", recordings={time: np.zeros((3, 2))})
    refused("two columns", recordings=pd.concat([frame, frame[[angle]]], axis=1))
    short = {time: frame[time], angle: frame[angle].to_numpy()[:-1]}
    refused("rows", "one length", recordings=short)
    refused("no rows", recordings=frame.iloc[:0])


# Cells read as text must not give "no column 'theta1_rad'" for an existing column.
@pytest.mark.parametrize("cell", ["0,25", "off"])
def test_text_where_numbers_must_be(frame, cell):
    angle = frame.columns[1]
    wrong = frame.astype({angle: object})
    wrong.loc[41, angle] = cell
    refused("recording 1" if not frame.attrs.get("name") else frame.attrs["name"],
            f"column '{angle}' contains text, '{cell}' in row 42; give numbers", recordings=wrong)
    refused(f"column '{angle}' contains text", "row 42",
            recordings={name: wrong[name].to_numpy() for name in wrong})
    with pytest.raises(rigcal.InputError, match=f"'{angle}' contains text"):
        list(_wire.submit(wrong, RIG))
    dated = frame.assign(**{angle: pd.Timestamp("2026-11-24")})
    refused(f"'{angle}' contains dates or times", recordings=dated)


def dated(times, kind):
    start = pd.Timestamp("2026-11-24 10:00")
    lasted = pd.to_timedelta(np.round(np.asarray(times) * 1e9).astype("int64"), unit="ns")
    return {"dates": start + lasted, "zone": (start + lasted).tz_localize("Europe/Stockholm"),
            "durations": lasted, "module": np.array((start + lasted).to_pydatetime(), object),
            "numpy": (start + lasted).to_numpy()}[kind]


# A table that was read as text has the same words for no reading as a file.
def test_words_for_missing_numbers(frame):
    text = RIG.read_text().replace("unit: RADIAN", "unit: RADIAN allow_missing: true")
    lacking, words = frame.copy(), frame.astype(str)
    for row, word in enumerate(["null", "N/A", "", " - "], start=100):
        lacking.loc[row, frame.columns[1]] = np.nan
        words.loc[row, frame.columns[1]] = word
    expected = rigcal.load_recording(lacking, text).segments[0].readings
    for given in (words, {name: words[name].to_numpy().astype(str) for name in words}):
        readings = rigcal.load_recording(given, text).segments[0].readings
        np.testing.assert_allclose(readings, expected)
    words.loc[99, frame.columns[1]] = "off"
    refused("text, 'off' in row 100; give numbers", 'errors="coerce"', recordings=words)


@pytest.mark.parametrize("kind", ["dates", "zone", "durations"])
def test_texts_as_time(frame, kind):
    time = frame.columns[0]
    expected = rigcal.load_recording(frame, RIG)
    cells = dated(frame[time], kind)
    texts = [str(cell) if kind == "durations" else cell.isoformat() for cell in cells]
    recording = rigcal.load_recording(frame.assign(**{time: texts}), RIG)
    np.testing.assert_array_equal(recording.segments[0].readings, expected.segments[0].readings)
    assert abs(recording.period - expected.period) < 1e-6 * expected.period
    refused("text, '03/05/2024 10:00:00' in row 1; give seconds, or dates (pandas.to_datetime",
            recordings=frame.assign(**{time: "03/05/2024 10:00:00"}))


# Dates and durations as time give the same samples as seconds, with and without an index.
@pytest.mark.parametrize("kind", ["dates", "zone", "durations", "module", "numpy"])
def test_dates_as_time(frame, kind):
    time = frame.columns[0]
    expected = rigcal.load_recording(frame, RIG, to=2.0)
    given = frame.assign(**{time: dated(frame[time], kind)})
    for source in (given, given.set_index(time), {name: given[name] for name in given}):
        recording = rigcal.load_recording(source, RIG, to=pd.Timedelta(seconds=2))
        np.testing.assert_array_equal(recording.segments[0].readings, expected.segments[0].readings)
        assert abs(recording.period - expected.period) < 1e-6 * expected.period
    if kind != "module" and kind != "numpy":
        unnamed = given.set_index(time).rename_axis(None)
        refused(f"no column '{time}'", f"frame.index.name = '{time}'", recordings=unnamed)


@pytest.mark.parametrize("values, advice", [
    (pd.to_timedelta([1, 2], unit="s"), "durations; give seconds"),
    (pd.to_datetime(["2026-01-01", "2026-01-02"]), "(x - x.iloc[0]).dt.total_seconds()")])
def test_dates_elsewhere_are_refused_with_advice(frame, values, advice):
    wrong = frame.head(2).assign(**{frame.columns[1]: values})
    refused(f"column '{frame.columns[1]}' contains", advice, recordings=wrong)


def test_dates_as_limits_are_refused(frame):
    refused("from_ is a date", "total_seconds()", recordings=frame, from_=pd.Timestamp("2026-01-01"))


def test_missing_numbers_of_nullable_columns(frame):
    angle = frame.columns[1]
    nullable = frame.astype({angle: "Float64"})
    recording = rigcal.load_recording(nullable, RIG)
    np.testing.assert_array_equal(recording.segments[0].readings,
                                  rigcal.load_recording(frame, RIG).segments[0].readings)
    nullable.loc[41, angle] = pd.NA
    nullable.attrs["name"] = "gap"
    refused("gap:42:2:", "NaN", recordings=nullable)


class PolarsTable:
    """The part of polars.DataFrame that rigcal uses."""

    def __init__(self, frame):
        self.frame, self.columns = frame, list(frame.columns)

    def __getitem__(self, name):
        return self.frame[name]


class LazyFrame:
    def collect(self):
        return None


class Table:
    def to_pandas(self):
        return None


def test_tables_of_other_libraries(frame):
    kind = type("DataFrame", (PolarsTable,), {"__module__": "polars.dataframe.frame"})
    given = [kind(frame)]
    try:
        import polars
        given.append(polars.DataFrame({name: frame[name].to_numpy() for name in frame}))
    except ImportError:
        pass
    expected = rigcal.load_recording(frame, RIG).segments[0].readings
    for table in given:
        recording = rigcal.load_recording(table, RIG)
        np.testing.assert_array_equal(recording.segments[0].readings, expected)
    lazy = type("LazyFrame", (LazyFrame,), {"__module__": "polars.lazyframe.frame"})
    refused("recording 1 is a LazyFrame of polars", "give its collect()", recordings=[lazy()])
    arrow = type("Table", (Table,), {"__module__": "pyarrow.lib"})
    refused("recording 1 is a Table of pyarrow", "give its to_pandas()", recordings=[arrow()])
    refused("recording 1 is a Series", "give a DataFrame", recordings=[frame[frame.columns[1]]])


# numpy.genfromtxt(names=True, usemask=True) returns such arrays.
def test_structured_and_masked_arrays(frame):
    text = RIG.read_text().replace("unit: RADIAN", "unit: RADIAN allow_missing: true")
    lacking = frame.copy()
    lacking.loc[100:120, frame.columns[1]] = np.nan
    expected = rigcal.load_recording(lacking, text).segments[0].readings
    records = frame.to_records(index=False)
    masked = np.ma.array(np.array(records), mask=False)
    masked[frame.columns[1]][100:121] = np.ma.masked
    masked[frame.columns[1]].data[100:121] = 1e20  # what the mask hides
    columns = {name: masked[name] for name in frame}
    for given in (masked, columns):
        np.testing.assert_array_equal(rigcal.load_recording(given, text).segments[0].readings,
                                      expected)
    np.testing.assert_array_equal(rigcal.load_recording(records, RIG).segments[0].readings,
                                  rigcal.load_recording(frame, RIG).segments[0].readings)
    refused("NaN", recordings=columns)
    for plain in (frame.to_numpy(), [frame.to_numpy()]):
        refused("recording 1 is an array without names", "'t': x[:, 0]", recordings=plain)


# Columns that the rig does not use may have any type.
def test_unused_columns_may_contain_texts(frame, result):
    reported = rigcal.calibrate(frame.assign(remark="good", day=pd.Timestamp("2026-11-24")), RIG)
    pd.testing.assert_frame_equal(reported.parameters, result.parameters, check_exact=True)


# Rows count from 1, and the cell is reported as for a file.
@pytest.mark.parametrize("value, word", [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")])
def test_cells(frame, value, word):
    angle = frame.columns[1]
    wrong = frame.copy()
    wrong.loc[41, angle] = value
    wrong.attrs["name"] = "tuesday"
    refused("tuesday:42:2:", word, recordings=wrong)
    turned = wrong[list(wrong.columns)[::-1]]
    refused("tuesday:42:1:", word, recordings=turned)


def test_missing_readings_act_as_in_a_file(frame, tmp_path):
    text = RIG.read_text().replace("unit: RADIAN", "unit: RADIAN allow_missing: true")
    assert "allow_missing" in text
    lacking = frame.copy()
    lacking.loc[100:120, lacking.columns[1]] = np.nan
    lacking.to_csv(tmp_path / "run.csv", index=False)
    pd.testing.assert_frame_equal(rigcal.calibrate(lacking, text).parameters,
                                  rigcal.calibrate(tmp_path / "run.csv", text).parameters,
                                  check_exact=True)


def test_rigs(csv, tmp_path):
    refused("missing.textproto", recordings=csv, rig=tmp_path / "missing.textproto")
    refused("rig:1:", recordings=csv, rig="wheel { }")
    refused("recording { }", recordings={"t": np.arange(9.0)},
            rig=RIG.read_text().split("recording {")[0])
    assert "free parameters" in repr(rigcal.Rig(RIG))


@pytest.mark.parametrize("arguments, words", [
    ({"free": "nobody"}, ["free=['nobody']: the rig has no such", "(Rig.parameters lists all)"]),
    ({"fix": {"nobody": 1.0}}, ["fix=['nobody']: the rig has no such parameter"]),
    ({"fix": {"pendulum.J_zz": -1}}, ["fix={'pendulum.J_zz': -1.0}: lies outside its bounds"]),
    ({"fix": {"pivot.offset": "a"}}, ["fix: 'pivot.offset' is 'a'; give a number"]),
    ({"start": {"pivot.offset": [1]}}, ["start: 'pivot.offset' is a list; give a number"]),
    ({"free": 3}, ["free is 3; give a name, or a list of names"]),
    ({"fix": None}, ["fix is None; give a name, or a list of names"]),
    ({"hold_out": 1.5}, ["hold_out is 1.5; give a name"]),
    ({"rig": None}, ["rig is None; give the path of a rig file, its text, or a Rig"]),
    ({"rig": 42}, ["rig is 42; give"]), ({"rig": np.zeros(2)}, ["rig is a ndarray; give"]),
    ({"parameters": 42}, ["parameters is 42; give physical or shadow"]),
    ({"progress": 3}, ["progress is 3; give True"]),
    ({"step": "a"}, ["step is 'a'; give a number"]), ({"to": "b"}, ["to is 'b'; give a number"]),
    ({"state_error_weight": []}, ["state_error_weight is a list"]), ({"compliance": "c"}, ["compliance is 'c'"]),
    ({"segments": ["x"]}, ["segments"]), ({"segments": 1.5}, ["segments"]),
    ({"threads": "many"}, ["threads is 'many'"]),
    ({"start": {"nobody": float("nan")}}, ["start", "finite"]),
    ({"hold_out": "nobody"}, ["hold_out=['nobody']"]),
    ({"step": 0}, ["step"]), ({"step": float("nan")}, ["step"]), ({"step": 2.0}, ["step"]),
    ({"from_": 3, "to": 2}, ["from_"]), ({"from_": float("nan")}, ["from_"]),
    ({"segments": "a"}, ["a"]), ({"segments": [-1]}, ["segments"]), ({"segments": [9]}, ["9"]),
    ({"threads": 0}, ["threads"]), ({"threads": 1.5}, ["threads"]),
    ({"max_iterations": 0}, ["max_iterations"]),
    ({"parameters": "good"}, ["physical", "shadow"]),
    ({"parameters": {"nobody": 1.0}}, ["nobody"]),
    ({"residual": "none"}, ["residual", "implicit"]), ({"compliance": -1.0}, ["compliance"]),
    ({"state_error_weight": float("inf")}, ["state_error_weight"]),
    ({"filter_cutoff": 0}, ["filter_cutoff", "[Hz]"]), ({"filter_cutoff": "a"}, ["filter_cutoff"]),
    ({"inertias": "cubic"}, ["inertias", "log-cholesky or exponential-eigenvalue or entries"]),
])
def test_options(csv, arguments, words):
    refused(*words, recordings=csv, **arguments)


def test_every_option_is_listed_and_reaches_the_request():
    listed = inspect.signature(rigcal.calibrate).parameters
    for name, values, meaning in _rigcal.option_table():
        assert name in listed and meaning in rigcal.calibrate.__doc__
        changes = []
        for value in {"true or false": (True, False)}.get(values, (0.125, 17, *values.split(" or "))):
            request = _rigcal.Request("rig", "")
            try:
                request.set_option(name, value)
            except rigcal.InputError as refusal:
                assert f"{name} is {value!r}; give {values}" == str(refusal)
            changes.append(len(json.loads(request.changed_options())))
        assert max(changes) == 1, name


def test_unknown_options(csv):
    with pytest.raises(TypeError, match="'filter_cutof'; did you mean \"filter_cutoff\""):
        rigcal.calibrate(csv, RIG, filter_cutof=3)


def test_scenarios_and_sources():
    with pytest.raises(rigcal.InputError, match="scenario is None; give the path of a scenario"):
        rigcal.simulate(RIG, None)
    with pytest.raises(rigcal.InputError, match="source is 42; give the path of a rig file"):
        rigcal.Rig(42)


# Refused before anything is sent.
@pytest.mark.parametrize("operation", [_wire.job, _wire.cancel, _wire.delete_job, _wire.subscribe,
                                       _wire.result, lambda job: _wire.report(job, False)])
def test_ids_of_jobs(operation):
    with pytest.raises(rigcal.InputError, match="job_id is 99; give an id of the service"):
        next(operation(99))


def test_ids_of_sessions_and_addresses():
    with pytest.raises(rigcal.InputError, match="session_id is None; give an id"):
        next(_wire.delete_session(None))
    with pytest.raises(rigcal.InputError, match="address is 7330; give HOST:PORT or unix:/PATH"):
        rigcal.Client(7330)


# An encoder whose zero differs from the rig file's.
def test_faulty_input_is_raised_with_its_findings(frame):
    shifted = frame.assign(theta1_rad=frame["theta1_rad"] + 1.5)
    fault = refused("off by", "offset", "as_is=True", recordings=shifted, fix={"pivot.offset": 0.0})
    assert isinstance(fault, rigcal.FaultyInput)
    assert [finding.severity for finding in fault.findings].count("fault") == 1
    assert fault.findings[0].channel == "pivot" and abs(fault.findings[0].size + 1.48) < 0.01
    reported = rigcal.calibrate(shifted, RIG, fix={"pivot.offset": 0.0}, as_is=True, refine=False,
                            max_iterations=3)
    assert reported.findings and not reported.converged


def test_faults_carry_findings():
    fault = rigcal.FaultyInput("no", [{"kind": "slip", "severity": "fault", "fromS": 1.5}])
    assert fault.findings[0].kind == "slip" and fault.findings[0].start == 1.5
    assert isinstance(fault, ValueError)


# The documented code for LeRobot's layout, in which one cell has the values of all joints.
@pytest.mark.parametrize("stored", [False, True])
def test_parquet_of_lerobot(frame, tmp_path, monkeypatch, stored):
    time, angle = frame.columns[0], frame.columns[1]
    episodes = pd.concat([pd.DataFrame({
        "observation.state": [np.array([q, 9.0], np.float32) for q in frame[angle]],
        "action": [np.array([0.0, 8.0], np.float32) for _ in frame[angle]],
        "timestamp": frame[time].astype(np.float32),
        "episode_index": index}) for index in (0, 1)], ignore_index=True)
    if stored:
        pytest.importorskip("pyarrow")
        path = tmp_path / "data" / "chunk-000" / "file-000.parquet"
        path.parent.mkdir(parents=True)
        episodes.to_parquet(path)
        monkeypatch.chdir(tmp_path)
    else:
        monkeypatch.setattr(pd, "read_parquet", lambda _: episodes)
    page = (ROOT / "docs" / "python.md").read_text()
    names = {}
    exec(page.split("### Parquet and LeRobot")[1].split("```python")[1].split("```")[0], names)
    run = names["run"].rename(columns={"t": time, "q": angle})
    recording = rigcal.load_recording(run, RIG)
    assert recording.name == "episode 0" and recording.rows == len(frame)
    original = rigcal.load_recording(frame, RIG).segments[0].readings
    assert np.allclose(recording.segments[0].readings, original, atol=1e-6)
    refused(f"column '{angle}' contains arrays", "vstack",
            recordings=episodes.rename(columns={"timestamp": time, "observation.state": angle}))


# pybind11 before 2.12 crashes with arrays of NumPy 2, so the package must refuse it at import.
def test_numpy_2_is_refused_if_it_would_crash():
    code = "import numpy; numpy.__version__ = '2.1.0'; import rigcal"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if _rigcal.supports_numpy_2:
        assert done.returncode == 0, done.stderr
    else:
        assert "crashes with NumPy 2.1.0; install \"numpy<2\"" in done.stderr
