"""Blocking client of the calibration service."""

from __future__ import annotations

import os
import socket
from collections import deque
from typing import Any, Iterator, Optional

from rigcal import _wire
from rigcal._display import Displayed
from rigcal._progress import JobIterations, ProgressLike, progress_function
from rigcal._table import RecordingLike, RecordingsLike
from rigcal.errors import ServiceError
from rigcal.result import Result
from rigcal.rig import RigLike


class Client(Displayed):
    """Connection to the calibration service `rigcald` (docs/service.md).

        >>> with rigcal.Client("rig-server:7700") as service:
        ...     result = service.calibrate("run.csv", "rig.textproto")

    Args:
        address: "HOST:PORT" or "unix:/PATH"; default: the environment variable RIGCAL_SERVER,
            otherwise the service of this account or machine.
        tls_cert, tls_key, tls_ca: certificate, key and authority for TLS; default: no TLS.
        timeout: longest time to wait for a reply [s].

    Raises:
        ConnectionError: if the service cannot be reached or the connection is lost.
        ServiceError: if the service refuses a request; every method can raise it.
        InputError: for an invalid address or unusable TLS files.
    """

    def __init__(self, address: Optional[str] = None, *, tls_cert: Any = None, tls_key: Any = None,
                 tls_ca: Any = None, timeout: float = 60.0) -> None:
        self._address = _wire.read_address(address, tls_cert, tls_key, tls_ca)
        self._timeout = timeout
        self._notifications: deque[Any] = deque()
        try:
            self._socket = self._connect()
        except OSError as error:
            raise _wire.unreachable(self._address, error) from None
        try:
            self.server_version: str = self._run(_wire.hello()).server_version
        except BaseException:
            self._socket.close()
            raise

    def __repr__(self) -> str:
        return f"Client('{self._address.text}')"

    def _connect(self) -> socket.socket:
        if self._address.unix_path:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(self._timeout)
            connection.connect(self._address.unix_path)
            return connection
        connection = socket.create_connection((self._address.host, self._address.port),
                                              timeout=self._timeout)
        if self._address.tls is None:
            return connection
        return self._address.tls.wrap_socket(connection, server_hostname=self._address.host)

    def close(self) -> None:
        """Closes the connection; jobs on the service continue."""
        self._socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sessions(self) -> list[Any]:
        """Returns the recordings on the service (rigcal.messages SessionInfo), newest first."""
        return self._list(_wire.sessions())

    def jobs(self) -> list[Any]:
        """Returns the jobs on the service (JobInfo), newest first."""
        return self._list(_wire.jobs())

    def job(self, job_id: str) -> Any:
        """Returns the state of a job (JobInfo)."""
        return self._run(_wire.job(job_id))

    def upload(self, recording: RecordingLike) -> str:
        """Uploads a recording if the service lacks it, and returns its session id."""
        return str(self._run(_wire.upload(recording)))

    def submit(self, recordings: RecordingsLike, rig: RigLike, **options: Any) -> str:
        """Uploads recordings, submits a job, and returns the id of the job.

        "session:ID" refers to a recording on the service. Options: `job_id`, `cross_validate`,
        `time_limit`, and the options of `rigcal.calibrate`.
        """
        return str(self._run(_wire.submit(recordings, rig, **options)).job_id)

    def watch(self, job_id: str) -> Iterator[Any]:
        """Yields the state of a job (JobInfo) now and after each change, until the job ends."""
        reported = self._run(_wire.subscribe(job_id))
        yield reported
        while not _wire.has_ended(reported):
            reported = self._run(_wire.next_update(job_id))
            yield reported

    def result(self, job_id: str) -> Result:
        """Returns the result of a finished job, with table and report, without trajectories."""
        result: Result = self._run(_wire.result(job_id))
        return result

    def report(self, job_id: str, path: Any, *, cross_validation: bool = False) -> None:
        """Writes the report of a finished job to an HTML file."""
        page = self._run(_wire.report(job_id, cross_validation))
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(page)

    def cancel(self, job_id: str) -> Any:
        """Cancels a waiting or running job; returns its state (JobInfo)."""
        return self._run(_wire.cancel(job_id))

    def delete_job(self, job_id: str) -> None:
        """Deletes a job that has ended."""
        self._run(_wire.delete_job(job_id))

    def delete_session(self, session_id: str) -> None:
        """Deletes a recording from the service."""
        self._run(_wire.delete_session(session_id))

    def calibrate(self, recordings: RecordingsLike, rig: RigLike, *, progress: ProgressLike = None,
                  **options: Any) -> Result:
        """Uploads recordings, calibrates on the service, and returns the result.

        Ctrl-C cancels the job.

        Raises:
            TimeoutError: if the job exceeds its time limit.
            ServiceError: if the job fails or is cancelled.
        """
        job_id = self.submit(recordings, rig, **options)
        try:
            with progress_function(progress) as report:
                steps = JobIterations(report)
                for reported in self.watch(job_id):
                    steps(reported)
        except ConnectionError:
            raise
        except BaseException:
            self._cancel_quietly(job_id)
            raise
        result: Result = self._run(_wire.finish(reported))
        return result

    def _cancel_quietly(self, job_id: str) -> None:
        """Cancels a job over a new connection: this one may have received part of a message."""
        try:
            with Client._of(self._address, self._timeout) as other:
                other.cancel(job_id)
        except (OSError, ServiceError):
            pass

    @classmethod
    def _of(cls, address: _wire.Address, timeout: float) -> Client:
        client = cls.__new__(cls)
        client._address, client._timeout, client._notifications = address, timeout, deque()
        client._socket = client._connect()
        client._run(_wire.hello())
        return client

    def _list(self, operation: _wire.Operation) -> list[Any]:
        return list(self._run(operation))

    def _run(self, operation: _wire.Operation) -> Any:
        try:
            asked = next(operation)
            while True:
                try:
                    reply = self._next() if isinstance(asked, _wire.NextNotification) else self._call(asked)
                except ServiceError as error:
                    asked = operation.throw(error)
                else:
                    asked = operation.send(reply)
        except StopIteration as end:
            return end.value

    def _call(self, request: Any) -> Any:
        try:
            self._socket.sendall(_wire.frame(request))
        except OSError as error:
            raise _wire.unreachable(self._address, error) from None
        while True:
            reply = self._receive(self._timeout)
            if not _wire.is_notification(reply):
                return _wire.check_reply(reply)
            self._notifications.append(reply)

    def _next(self) -> Any:
        if self._notifications:
            return self._notifications.popleft()
        while True:
            reply = self._receive(None)
            if _wire.is_notification(reply):
                return reply
            _wire.check_reply(reply)

    def _receive(self, timeout: Optional[float]) -> Any:
        self._socket.settimeout(timeout)
        try:
            head = self._read(_wire.LENGTH_BYTES)
            return _wire.parse_reply(self._read(_wire.frame_length(head)))
        except ConnectionError:
            raise
        except OSError as error:
            raise _wire.unreachable(self._address, error) from None

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise _wire.broken(self._address)
            data += part
        return bytes(data)
