"""Calibrations in the process give the command line's numbers, from every kind of source."""

import html
import json
import math
import pickle
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import rigcal
from conftest import RIG, ROOT, SCENARIO, SENSED, TRUTH, rigcal_program


def without_time(document):
    """A result without durations, dates and names."""
    return {key: value for key, value in document.items()
            if key not in ("wallTimeS", "recordings", "provenance", "notes")}


def columns(frame):
    return {name: frame[name].to_numpy() for name in frame}


# Both use the same pipeline: a difference in the last bit means another code path.
def test_numbers_are_those_of_the_command_line_to_the_bit(csv, result, tmp_path):
    out = tmp_path / "result.json"
    done = rigcal_program("calibrate", csv, "--rig", RIG, "--json", out, "--quiet")
    reported = json.loads(out.read_text())
    assert without_time(reported) == without_time(json.loads(result.to_json()))
    assert [row["value"] for row in reported["parameters"]] == list(result.parameters["value"])
    assert done.stdout.splitlines()[:10] == result.table().splitlines()[:10]


def test_options_reach_the_estimator_as_those_of_the_command_line(csv, tmp_path):
    out = tmp_path / "result.json"
    name, value = "pivot.b", 3.1e-4
    rigcal_program("calibrate", csv, "--rig", RIG, "--json", out, "--quiet", "--fix",
                   f"{name}={value!r}", "--from", "0.5", "--to", "5", "--no-refine", "--as-is",
                   "--max-iterations", "30", "--filter-cutoff", "4", "--inertias", "entries")
    here = rigcal.calibrate(csv, RIG, fix={name: value}, from_=0.5, to=5, refine=False, as_is=True,
                            max_iterations=30, filter_cutoff=4, inertias="entries")
    assert without_time(json.loads(out.read_text())) == without_time(here.document)
    assert (here.options["filterCutoffHz"], here.options["inertias"]) == (4, "entries")
    assert name not in here.parameters.index


def test_any_sensor_can_be_held_out(sensed):
    whole = rigcal.calibrate(sensed, SENSED)
    some = rigcal.calibrate(sensed, SENSED, hold_out="imu1")
    assert whole.document["heldOut"] == []
    (reported,) = some.document["heldOut"]
    assert (reported["joint"], reported["unit"]) == ("imu1.gyro_z", "rad/s")
    assert math.isclose(reported["rmse"], 2e-2, rel_tol=0.05)
    assert (some.parameters.standard_deviation > whole.parameters.standard_deviation).any()
    with pytest.raises(rigcal.InputError, match="would hold out all encoders"):
        rigcal.calibrate(sensed, SENSED, hold_out="1")
    told_by = [rigcal.crossvalidate(sensed, SENSED, parts=2, hold_out=names).parameters.reported
               for names in ((), "imu1")]
    assert (told_by[1] > told_by[0]).all()
    rmse = [rigcal.validate(sensed, SENSED, hold_out=names).errors["rmse"].iloc[0]
            for names in ((), ["imu1"])]
    assert rmse[0] != rmse[1]  # of the encoder: its start state is fitted without the IMU


def test_table_dictionary_and_file_give_the_same_result(frame, result):
    for source in (frame, columns(frame), frame.set_index(frame.columns[0])):
        reported = rigcal.calibrate(source, RIG)
        pd.testing.assert_frame_equal(reported.parameters, result.parameters, check_exact=True)
        np.testing.assert_array_equal(reported.covariance, result.covariance)


def test_threads_do_not_change_the_result(csv, result):
    one = rigcal.calibrate(csv, RIG, threads=1)
    pd.testing.assert_frame_equal(one.parameters, result.parameters, check_exact=True)


def test_result_contains_estimates_and_trajectories(result):
    parameters = result.parameters
    assert result.converged
    assert list(parameters.columns) == ["value", "standard_deviation", "noise", "scatter",
                                        "half_interval", "unit", "lower", "upper", "at_bound",
                                        "initial", "data_value", "data_deviation"]
    assert (parameters["standard_deviation"] > 0.0).all()
    np.testing.assert_array_equal(result.covariance.index, parameters.index)
    np.testing.assert_allclose(np.diag(result.correlation), 1.0)
    trajectory = result.trajectories[0]
    assert trajectory.measured.shape == trajectory.simulated.shape == trajectory.estimated.shape
    assert len(trajectory.time) == len(trajectory.measured)
    error = trajectory.measured[:, 0] - trajectory.simulated[:, 0]
    assert math.isclose(np.sqrt(np.nanmean(error**2)), result.simulation.iloc[0], rel_tol=1e-6)
    assert result.verdict.kind == "accepted" and html.escape(result.verdict.sentence) in result._repr_html_()
    assert 0.0 < result.verdict.relative_error < 0.1
    assert result.verdict.prediction == "open-loop"
    assert 0.0 < result.verdict.horizon <= trajectory.time[-1] - trajectory.time[0] + 1e-9
    assert "parameters" in repr(result)


# "9.8037e-08" in a notebook must not differ from "98.037e-9" in the terminal.
def test_numbers_have_the_notation_of_the_terminal(result):
    rows = {line.split()[0]: line.split() for line in result.table().splitlines()
            if line.split()[:1] and line.split()[0] in result.parameters.index}
    assert len(rows) == len(result.parameters)
    page = result._repr_html_()
    # All numbers of a row precede the unit, whose power of ten they have in common.
    places = [page.index(f"<th>{name}</th>")
              for name in ("parameter", "value", "± sd", "95 % interval", "initial", "unit")]
    assert places == sorted(places)
    for name, (_, value, deviation, lower, _, upper, *_) in rows.items():
        for text in (value, deviation, f"{lower} … {upper}"):
            assert f"<td>{text}</td>" in page, (name, text)


# A notebook that shows only the verdict of a rejected model hides what to do.
def test_page_contains_findings_and_advice(result):
    finding = {"kind": "slip", "severity": "warning", "what": "encoder <1> slips",
               "advice": "fasten it"}
    bound = {**result.document["parameters"][0], "atBound": True, "lower": 0, "value": 0}
    page = rigcal.Result({**result.document, "findings": [finding],
                          "parameters": [bound, *result.document["parameters"][1:]]})._repr_html_()
    assert "<b>warning</b>: encoder &lt;1&gt; slips<br>to do: fasten it" in page
    assert "<td>at lower bound 0</td>" in page


def test_truth_lies_in_the_intervals(result):
    for name, row in result.parameters.iterrows():
        assert abs(row["value"] - TRUTH[name]) <= 2 * row["half_interval"], name


def test_written_rigs_are_those_of_the_command_line(csv, result, tmp_path):
    def without_date(path):
        return [line for line in path.read_text().splitlines() if "Calibrated by rigcal" not in line
                and "Their covariance" not in line]

    there = {kind: tmp_path / f"there.{kind}" for kind in ("textproto", "urdf", "xml")}
    rigcal_program("calibrate", csv, "--rig", RIG, "--quiet", "--rig-out", there["textproto"],
                   "--urdf-out", there["urdf"], "--mjcf-out", there["xml"])
    for kind, write in (("textproto", result.write_rig), ("urdf", result.write_urdf),
                        ("xml", result.write_mjcf)):
        notes = write(tmp_path / f"here.{kind}")
        assert all(isinstance(note, str) for note in notes)
        assert without_date(tmp_path / f"here.{kind}") == without_date(there[kind])
    result.write_rig(tmp_path / "priors.textproto", priors=True)
    assert "prior_standard_deviation" in (tmp_path / "priors.textproto").read_text()
    assert rigcal.Rig(tmp_path / "here.textproto").parameters["value"].equals(
        result.rig().parameters["value"])
    old = rigcal.Result({**result.document, "provenance": {}})
    with pytest.raises(rigcal.InputError, match="older rigcal"):
        old.write_rig(tmp_path / "old.textproto")


def test_every_class_has_a_text_and_a_page(frame, csv, result):
    recording = rigcal.load_recording(frame, RIG)
    checked, rig = rigcal.check(frame, RIG), rigcal.Rig(RIG)
    folds = rigcal.crossvalidate(frame, RIG, parts=2)
    shown = [result, result.verdict, result["pivot.b"], result.trajectories[0], recording,
             recording.segments[0], checked, folds, rigcal.validate(frame, RIG, parameters=result),
             rig, rig.linearize([0.1]), rig.simulate(np.zeros((20, 0)), 0.01), *checked.findings]
    for each in shown:
        kind = type(each).__name__
        text, page = repr(each), each._repr_html_()
        assert "object at 0x" not in text and len(text) < 500 and "<b>" in page, kind
        assert kind == "Estimate" or text.startswith(kind + "("), kind
    for name in rigcal.__all__:
        thing = getattr(rigcal, name)
        if isinstance(thing, type) and not issubclass(thing, Exception):
            assert hasattr(thing, "_repr_html_"), name


def test_files_equal_those_of_the_command_line(csv, result, tmp_path):
    page, there = tmp_path / "here.html", tmp_path / "there.html"
    result.report(page)
    rigcal_program("calibrate", csv, "--rig", RIG, "--plot", there, "--quiet")
    assert page.read_text().count("<svg") == there.read_text().count("<svg") > 0
    result.to_json(tmp_path / "result.json")
    again = rigcal.Result.load(tmp_path / "result.json")
    pd.testing.assert_frame_equal(again.parameters, result.parameters, check_exact=True)
    with pytest.raises(rigcal.InputError, match="loaded from JSON"):
        again.table()


def test_results_survive_pickling(result):
    again = pickle.loads(pickle.dumps(result))
    pd.testing.assert_frame_equal(again.parameters, result.parameters, check_exact=True)
    assert again.table() == result.table()


def test_values_come_from_results_files_and_numbers(csv, result, tmp_path):
    path = tmp_path / "result.json"
    result.to_json(path)
    tables = []
    for values in (result, path, dict(result.parameters["value"])):
        reported = rigcal.validate(csv, RIG, parameters=values)
        tables.append(reported.errors)
    assert (tables[0]["rmse"] < 1e-2).all()
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0], other, check_exact=True)
    fresh = rigcal.validate(csv, RIG, parameters={result.parameters.index[0]:
                                                  1.1 * result.parameters["value"].iloc[0]})
    assert fresh.errors["rmse"].iloc[0] > 2 * tables[0]["rmse"].iloc[0]


def test_validation_equals_the_command_line(csv, result, tmp_path):
    out, values = tmp_path / "validation.json", tmp_path / "result.json"
    result.to_json(values)
    rigcal_program("validate", csv, "--rig", RIG, "--parameters", values, "--window", "2", "--json",
                   out, "--quiet")
    here = rigcal.validate(csv, RIG, parameters=values, window=2)
    assert json.loads(out.read_text())["windows"] == here.document["windows"]
    assert here.converged and "window" in here.table()


def test_cross_validation_equals_the_command_line(csv, tmp_path):
    out = tmp_path / "cross.json"
    rigcal_program("crossvalidate", csv, "--rig", RIG, "--parts", "3", "--json", out, "--quiet")
    here = rigcal.crossvalidate(csv, RIG, parts=3)
    assert without_time(json.loads(out.read_text())) == without_time(here.document)
    joint = next(iter(here.errors.values()))
    assert joint.shape == (3, 3) and here.converged
    assert (here.parameters["jackknife"] >= 0.0).all()


# A cart on a prismatic joint: its readings and errors are labelled as metres everywhere.
def test_values_of_prismatic_joints_are_in_metres(tmp_path):
    rig = ROOT / "configs" / "rig-cartpole.textproto"
    truth = {"rail.b": 0.8, "pivot.b": 2e-4}
    run = rigcal.simulate(rig, """
        duration_s: 4 rate_hz: 200
        initial { joint: "pivot" angle_rad: 1 }
        multisine {
          motor: "rail"
          sine { frequency_hz: 0.7 amplitude: 2 } sine { frequency_hz: 1.6 amplitude: 2 }
        }
        noise {
          angle_standard_deviation_rad: 1e-4 position_standard_deviation_m: 2e-5 seed: 2
        }""", start=truth)
    assert list(run.columns[1:3]) == ["rail_m", "pivot_rad"]
    read = rigcal.load_recording(run, rig)
    assert list(zip(read.sensors, read.units)) == [("rail", "m"), ("pivot", "rad")]
    np.testing.assert_array_equal(read.segments[0].readings[:, 0], run["rail_m"])
    found = rigcal.calibrate(run, rig)
    assert found.sensors == [("rail", "m"), ("pivot", "rad")]
    assert 0.0 < found.simulation["rail"] < 1e-3
    assert found.parameters.loc["rail.b", "unit"] == "N·s/m"
    assert rigcal.crossvalidate(run, rig, parts=2).units == {"rail": "m", "pivot": "rad"}


def test_check_equals_the_command_line(csv, tmp_path):
    out = tmp_path / "check.json"
    rigcal_program("check", csv, "--rig", RIG, "--json", out, "--quiet")
    here = rigcal.check(csv, RIG)
    reported = json.loads(out.read_text())
    assert reported["findings"] == here.document["findings"]
    assert reported["excitation"] == here.document["excitation"]
    assert here.worst == reported["worst"] and (here.excitation["standard_deviation"] > 0.0).all()


def test_simulation_equals_the_command_line(tmp_path):
    out = tmp_path / "run.csv"
    rigcal_program("simulate", "--rig", RIG, "--scenario", SCENARIO, "--step", "1e-3", "--out", out)
    there = pd.read_csv(out, float_precision="round_trip")
    pd.testing.assert_frame_equal(there, rigcal.simulate(RIG, SCENARIO, step=1e-3),
                                  check_exact=True)


def test_recordings_are_arrays(csv, frame):
    recording = rigcal.load_recording(csv, RIG)
    segment = recording.segments[0]
    assert recording.rows == len(frame) and segment.readings.shape == (len(frame), 1)
    np.testing.assert_allclose(np.diff(segment.time), recording.period, rtol=1e-9)
    assert list(recording.to_frame().columns) == ["segment", "time", *recording.sensors]
    part = rigcal.load_recording(frame, RIG, from_=1, to=2)
    assert part.segments[0].time[0] >= 1 and part.segments[0].time[-1] <= 2


def test_progress_is_reported_and_its_exceptions_end_the_calibration(csv):
    reported = []
    rigcal.calibrate(csv, RIG, progress=lambda *record: reported.append(record))
    assert {type(field) for field in reported[-1]} == {str, int, float}
    assert len({record[0] for record in reported}) >= 2  # stages
    assert any(record[1] > 0 for record in reported)

    class Enough(Exception):
        pass

    def stop(stage, iteration, cost, gradient):
        raise Enough(stage)

    with pytest.raises(Enough, match=reported[0][0]):
        rigcal.calibrate(csv, RIG, progress=stop)


def test_other_python_threads_run_during_a_calibration(csv):
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(1e-3):
            ticks.append(1)

    beside = threading.Thread(target=tick)
    beside.start()
    within = []
    rigcal.calibrate(csv, RIG, progress=lambda *_: within.append(len(ticks)))
    done.set()
    beside.join()
    assert within[-1] > within[0]


def test_figures_show_every_sensor(result, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = result.plot()
    axes = [axis for part in figure.subfigs for axis in part.axes]
    assert len(axes) == 2 * len(result.sensors) + 1
    labels = [label.get_text() for label in axes[-1].get_yticklabels()]
    for name, label in zip(result.parameters.index, labels):
        value = next(line for line in result.table().splitlines() if line.split()[:1] == [name])
        assert label.startswith(f"{name} = {value.split()[1]} "), (label, value)
    figure.savefig(tmp_path / "result.png")
    assert (tmp_path / "result.png").stat().st_size > 10_000
    with pytest.raises(rigcal.InputError, match="no trajectory 7"):
        result.plot(segments=[7])


def test_nothing_but_figures_needs_matplotlib(csv):
    script = f"""
import sys
sys.modules["matplotlib"] = None
import rigcal
result = rigcal.calibrate({str(csv)!r}, {str(RIG)!r})
try:
    result.plot()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "pip install matplotlib" in done.stdout


# Each window must be fitted, not any.
def test_validation_converged_if_all_windows_are_fitted():
    for fitted in ([True], [False], [True, False], [False, True], [True, True]):
        document = {"windows": [{"fitted": each} for each in fitted]}
        assert rigcal.Validation(document).converged == all(fitted)


# Findings name their recording apart, so the text must not repeat it.
def test_finding_of_irregular_times_names_its_recording_once(frame):
    time, angle = frame.columns[0], frame.columns[1]
    shift = np.random.default_rng(1).uniform(0.0, 1e-3, len(frame))
    late = frame.assign(**{time: frame[time] + shift, angle: frame[angle].rolling(9, 1).max()})
    late.attrs["name"] = "late"
    result = rigcal.calibrate(late, RIG, as_is=True)
    (finding,) = [each for each in result.findings if "uniform grid" in each.what]
    assert finding.recording == "late" and finding.what.startswith("time stamps deviate")
    assert "late: late:" not in result.table()
