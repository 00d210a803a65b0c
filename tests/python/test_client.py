"""Both clients with a real rigcald."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading

import pandas as pd
import pytest

import rigcal
from conftest import PROGRAMS, RIG, ROOT, SENSED, rigcal_program


def test_result_of_a_job_equals_a_local_calibration(service, csv, result, tmp_path):
    reported = []
    with rigcal.Client(service) as client:
        assert client.server_version
        there = client.calibrate(csv, RIG, progress=lambda *record: reported.append(record))
        pd.testing.assert_frame_equal(there.parameters, result.parameters, check_exact=True)
        assert there.converged and "pendulum.J_zz" in there.table()
        there.report(tmp_path / "report.html")
        assert "</html>" in (tmp_path / "report.html").read_text()
        json.loads(there.to_json())
    assert reported and reported[-1][0]


def test_tables_are_uploaded_with_every_digit(service, frame, csv, result):
    with rigcal.Client(service) as client:
        there = client.calibrate([frame], RIG)
        pd.testing.assert_frame_equal(there.parameters, result.parameters, check_exact=True)
        assert client.upload(frame) == client.upload(frame)


def test_sensors_are_held_out_as_in_a_local_calibration(service, sensed):
    here = rigcal.calibrate(sensed, SENSED, hold_out="imu1")
    with rigcal.Client(service) as client:
        there = client.calibrate(sensed, SENSED, hold_out="imu1")
    assert there.document["heldOut"] == here.document["heldOut"]


def test_jobs_are_listed_watched_reported_and_deleted(service, csv, tmp_path):
    with rigcal.Client(service) as client:
        session = client.upload(csv)
        assert session in [info.session_id for info in client.sessions()]
        job = client.submit([f"session:{session}"], RIG, job_id="by-hand", fix={"pivot.b": 3e-4},
                            filter_cutoff=4, refine=False)
        states = [info.state for info in client.watch(job)]
        assert states[-1] == rigcal_state("JOB_DONE")
        found = client.result(job)
        assert "pivot.b" not in found.parameters.index
        assert (found.options["filterCutoffHz"], found.options["refineSimulation"]) == (4, False)
        client.report(job, tmp_path / "report.html")
        assert job in [info.job_id for info in client.jobs()]
        client.delete_job(job)
        assert job not in [info.job_id for info in client.jobs()]
        with pytest.raises(rigcal.ServiceError) as reported:
            client.job(job)
        assert reported.value.code == "NOT_FOUND"
        other = client.upload(pd.read_csv(csv).iloc[:1000])
        client.delete_session(other)
        assert other not in [info.session_id for info in client.sessions()]


def rigcal_state(name):
    from rigcal.messages import service_pb2

    return service_pb2.JobState.Value(name)


def test_jobs_are_cancelled(service, csv):
    with rigcal.Client(service) as client:
        frame = pd.read_csv(csv)
        parts = [frame.iloc[at:].assign(t_s=lambda part: part["t_s"] - part["t_s"].iloc[0])
                 for at in range(0, 1000, 100)]
        job = client.submit(parts, RIG)
        client.cancel(job)
        with pytest.raises(rigcal.ServiceError):
            for info in client.watch(job):
                pass
            client.result(job)
        assert info.state == rigcal_state("JOB_CANCELLED")


# An exception in a callback also cancels the job in the service.
def test_time_limit_of_a_job_raises(service, csv):
    with rigcal.Client(service) as client:
        with pytest.raises(TimeoutError, match="job '.*': the time limit of 0.01 s is over"):
            client.calibrate(csv, RIG, step=1e-2, time_limit=0.01)


def test_leaving_a_calibration_cancels_its_job(service, csv):
    class Enough(Exception):
        pass

    def leave(*_):
        raise Enough

    with rigcal.Client(service) as client:
        parts = [pd.read_csv(csv).iloc[: 3000 - 10 * k] for k in range(10)]
        with pytest.raises(Enough):
            client.calibrate(parts, RIG, job_id="left", progress=leave)
        assert list(client.watch("left"))[-1].state == rigcal_state("JOB_CANCELLED")


def test_refusals_of_the_service_are_reported(service):
    with rigcal.Client(service) as client:
        with pytest.raises(rigcal.ServiceError, match="nobody"):
            client.calibrate("session:nobody", RIG)
        with pytest.raises(rigcal.ServiceError) as reported:
            client.result("nothing")
        assert reported.value.code == "NOT_FOUND"
        assert client.jobs() is not None  # the connection is still usable
    with pytest.raises(ConnectionError, match="127.0.0.1:1"):
        rigcal.Client("127.0.0.1:1")
    with pytest.raises(rigcal.InputError, match="HOST:PORT"):
        rigcal.Client("nowhere")
    with pytest.raises(rigcal.InputError, match="tls_key"):
        rigcal.Client(service, tls_cert="a.pem")


@pytest.mark.parametrize("options, words", [
    ({"free": ["pivot.viscous"]}, r"free=\['pivot.viscous'\]: .*Rig.parameters lists all"),
    ({"fix": {"pivot.b": -1.0}}, r"fix=\{'pivot.b': -1.0\}: lies outside its bounds"),
    ({"start": {"pivot.viscous": 1.0}}, r"start=\['pivot.viscous'\]: the rig has no"),
    ({"filter_cutoff": 0}, r"filter_cutoff is 0; give a number > 0 \[Hz\]"),
    ({"hold_out": ["arm"]}, r"hold_out=\['arm'\]: no such sensor is in use"),
])
def test_invalid_arguments_are_refused_before_sending(service, csv, options, words):
    with rigcal.Client(service) as client:
        before = len(client.sessions()), len(client.jobs())
        with pytest.raises(rigcal.InputError, match=words):
            client.submit(pd.read_csv(csv).iloc[:777], RIG, **options)
        assert (len(client.sessions()), len(client.jobs())) == before


def test_async_client_does_the_same(service, csv, result, tmp_path):
    async def run():
        reported = []
        async with rigcal.AsyncClient(service) as client:
            there, listed = await asyncio.gather(
                client.calibrate(csv, RIG, job_id="async",
                                 progress=lambda *record: reported.append(record)),
                client.sessions())
            states = [info.state async for info in client.watch("async")]
            await client.report("async", tmp_path / "report.html")
            assert "async" in [info.job_id for info in await client.jobs()]
            await client.delete_job("async")
            with pytest.raises(rigcal.ServiceError):
                await client.job("async")
        return there, states, reported, listed

    there, states, reported, listed = asyncio.run(run())
    pd.testing.assert_frame_equal(there.parameters, result.parameters, check_exact=True)
    assert states == [rigcal_state("JOB_DONE")] and listed is not None
    with pytest.raises(ConnectionError):
        asyncio.run(rigcal.AsyncClient("127.0.0.1:1").connect())
    with pytest.raises(ConnectionError, match="connect"):
        asyncio.run(rigcal.AsyncClient(service).jobs())


def test_cancelling_a_coroutine_cancels_its_job(service, csv):
    async def run():
        parts = [pd.read_csv(csv).iloc[: 3000 - 20 * k] for k in range(10)]
        begun = asyncio.Event()
        async with rigcal.AsyncClient(service) as client:
            work = asyncio.create_task(client.calibrate(
                parts, RIG, job_id="dropped", progress=lambda *_: begun.set()))
            await asyncio.wait_for(begun.wait(), 60)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
        async with rigcal.AsyncClient(service) as other:
            return [info async for info in other.watch("dropped")][-1]

    assert asyncio.run(run()).state == rigcal_state("JOB_CANCELLED")


def test_the_command_line_lists_jobs_of_the_package(service, csv):
    with rigcal.Client(service) as client:
        client.submit(csv, RIG, job_id="seen")
        list(client.watch("seen"))
    assert "seen" in rigcal_program("jobs", "--server", service).stdout


def test_connections_time_out_if_the_service_is_silent():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        accepted = threading.Thread(target=lambda: silent.accept()[0].recv(64))
        accepted.start()
        with pytest.raises(ConnectionError):
            rigcal.Client(address, timeout=0.2)
        accepted.join()


def make_certificates(folder):
    """Writes an authority's and a client's and service's certificate with keys into a folder."""
    for name, signed in (("ca", []), ("me", ["-CA", "ca.pem", "-CAkey", "ca.key"])):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{name}.key",
                        "-out", f"{name}.pem", *signed], cwd=folder, check=True,
                       capture_output=True)


# A service on another computer accepts only TLS, so the example of a client must support it.
def test_example_client_supports_tls(csv, tmp_path):
    if not shutil.which("protoc") or not shutil.which("openssl"):
        pytest.skip("protoc or openssl is not installed")
    make_certificates(tmp_path)
    subprocess.run(["protoc", f"-I{ROOT}", f"--python_out={tmp_path}",
                    *map(str, sorted((ROOT / "proto").glob("*.proto")))], check=True)
    tls = ["--tls-cert", "me.pem", "--tls-key", "me.key", "--tls-ca", "ca.pem"]
    with subprocess.Popen([str(PROGRAMS / "rigcald"), "--data", "data", "--listen", "127.0.0.1:0",
                           *tls], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as daemon:
        address = daemon.stdout.readline().split()[-1]

        def run(*options):
            return subprocess.run(
                [sys.executable, str(ROOT / "docs" / "examples" / "rigcal_client.py"), address,
                 str(RIG), str(csv), "--joint", "pivot", *options], cwd=tmp_path, text=True,
                capture_output=True, timeout=120, env={**os.environ, "PYTHONPATH": str(tmp_path)})

        done, plain, half = run(*tls), run(), run(*tls[:2])
        daemon.send_signal(signal.SIGTERM)
    assert done.returncode == 0 and "pendulum.J_zz\t" in done.stdout, done.stderr
    assert plain.returncode != 0 and "if it requires TLS, give --tls-cert" in plain.stderr
    assert half.returncode != 0 and "--tls-ca together" in half.stderr
