"""A client of the calibration service that waits."""

from __future__ import annotations

import os
import socket
from collections import deque
from typing import Any, Iterator, Optional

from rigcal import _wire
from rigcal._progress import JobSteps, ProgressLike, telling
from rigcal._request import RecordingLike, RecordingsLike
from rigcal.errors import ServiceError
from rigcal.result import Result
from rigcal.rig import RigLike


class Client:
    """A connection to `rigcald` (docs/service.md).

        >>> with rigcal.Client("rig-server:7700") as service:
        ...     result = service.calibrate("run.csv", "rig.textproto")

    Args:
        address: "HOST:PORT" or "unix:/PATH"; default: RIGCAL_SERVER, else this machine's service.
        tls_cert, tls_key, tls_ca: files by which both ends prove who they are; default: no TLS.
        timeout: longest silence of a service that owes a reply [s].

    Raises:
        ConnectionError: when the service cannot be reached, or not any more.
        ServiceError: when it refuses; also of every method.
        InputError: for an address or files that cannot be used.
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
        """Ends the connection; jobs go on."""
        self._socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sessions(self) -> list[Any]:
        """The recordings that the service has (rigcal.messages SessionInfo), newest first."""
        return self._list(_wire.sessions())

    def jobs(self) -> list[Any]:
        """The jobs that the service has (JobInfo), newest first."""
        return self._list(_wire.jobs())

    def job(self, job_id: str) -> Any:
        """How a job stands (JobInfo)."""
        return self._run(_wire.job(job_id))

    def upload(self, recording: RecordingLike) -> str:
        """Uploads a file or a table, unless the service has it, and returns its session's id."""
        return str(self._run(_wire.upload(recording)))

    def submit(self, recordings: RecordingsLike, rig: RigLike, **options: Any) -> str:
        """Uploads recordings, submits a job and returns its id.

        Recordings may be "session:ID". Options are those of `rigcal.calibrate` that a job has, and
        `job_id`, `max_iterations` and `cross_validate`.
        """
        return str(self._run(_wire.submit(recordings, rig, **options)).job_id)

    def watch(self, job_id: str) -> Iterator[Any]:
        """How a job stands (JobInfo), now and whenever that changes, until it has ended."""
        told = self._run(_wire.subscribe(job_id))
        yield told
        while not _wire.has_ended(told):
            told = self._run(_wire.next_update(job_id))
            yield told

    def result(self, job_id: str) -> Result:
        """The result of a job that is done, with table and report; trajectories stay there."""
        result: Result = self._run(_wire.result(job_id))
        return result

    def report(self, job_id: str, path: Any, *, cross_validation: bool = False) -> None:
        """Writes the report of a job that is done."""
        page = self._run(_wire.report(job_id, cross_validation))
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(page)

    def cancel(self, job_id: str) -> Any:
        """Ends a job that waits or runs (JobInfo)."""
        return self._run(_wire.cancel(job_id))

    def delete_job(self, job_id: str) -> None:
        """Deletes a job that has ended."""
        self._run(_wire.delete_job(job_id))

    def delete_session(self, session_id: str) -> None:
        """Deletes a recording."""
        self._run(_wire.delete_session(session_id))

    def calibrate(self, recordings: RecordingsLike, rig: RigLike, *, progress: ProgressLike = None,
                  **options: Any) -> Result:
        """Uploads, calibrates there, and returns the result. Ctrl-C cancels the job."""
        job_id = self.submit(recordings, rig, **options)
        try:
            with telling(progress) as tell:
                steps = JobSteps(tell)
                for told in self.watch(job_id):
                    steps(told)
        except ConnectionError:
            raise
        except BaseException:
            self._cancel_quietly(job_id)
            raise
        result: Result = self._run(_wire.finish(told))
        return result

    def _cancel_quietly(self, job_id: str) -> None:
        """Over a connection of its own: this one may stand in the middle of a message."""
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
                    reply = self._next() if isinstance(asked, _wire.Notified) else self._call(asked)
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
