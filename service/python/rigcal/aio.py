"""Asyncio client of the calibration service."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from typing import Any, AsyncIterator, Optional

from rigcal import _wire
from rigcal._display import Displayed
from rigcal._progress import JobIterations, ProgressLike, progress_function
from rigcal._table import RecordingLike, RecordingsLike
from rigcal.errors import ServiceError
from rigcal.result import Result
from rigcal.rig import RigLike


class AsyncClient(Displayed):
    """Client of the calibration service with coroutines; see `Client` for its arguments.

        >>> async with rigcal.AsyncClient("rig-server:7700") as service:
        ...     result = await service.calibrate("run.csv", "rig.textproto")

    Connects on entering the context, or by `connect`. Runs one call at a time; other calls wait.
    """

    def __init__(self, address: Optional[str] = None, *, tls_cert: Any = None, tls_key: Any = None,
                 tls_ca: Any = None, timeout: float = 60.0) -> None:
        self._address = _wire.read_address(address, tls_cert, tls_key, tls_ca)
        self._timeout = timeout
        self._notifications: deque[Any] = deque()
        self._reader: Optional[asyncio.StreamReader] = None
        self._writer: Optional[asyncio.StreamWriter] = None
        self._turn = asyncio.Lock()
        self.server_version = ""

    def __repr__(self) -> str:
        return f"AsyncClient('{self._address.text}')"

    async def connect(self) -> None:
        """Connects to the service; raises the exceptions of `Client`."""
        address = self._address
        if address.unix_path:
            opening: Any = asyncio.open_unix_connection(address.unix_path)
        else:
            opening = asyncio.open_connection(address.host, address.port, ssl=address.tls)
        try:
            self._reader, self._writer = await asyncio.wait_for(opening, self._timeout)
        except (OSError, asyncio.TimeoutError) as error:
            raise _wire.unreachable(address, error) from None
        self.server_version = (await self._run(_wire.hello())).server_version

    async def close(self) -> None:
        """Closes the connection; jobs on the service continue."""
        if self._writer is not None:
            self._writer.close()
            try:
                await self._writer.wait_closed()
            except OSError:
                pass
            self._reader = self._writer = None

    async def __aenter__(self) -> AsyncClient:
        try:
            await self.connect()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def sessions(self) -> list[Any]:
        """Returns the recordings on the service (SessionInfo), newest first."""
        return list(await self._run(_wire.sessions()))

    async def jobs(self) -> list[Any]:
        """Returns the jobs on the service (JobInfo), newest first."""
        return list(await self._run(_wire.jobs()))

    async def job(self, job_id: str) -> Any:
        """Returns the state of a job (JobInfo)."""
        return await self._run(_wire.job(job_id))

    async def upload(self, recording: RecordingLike) -> str:
        """Uploads a recording if the service lacks it, and returns its session id."""
        return str(await self._run(_wire.upload(recording)))

    async def submit(self, recordings: RecordingsLike, rig: RigLike, **options: Any) -> str:
        """Uploads recordings, submits a job and returns its id; see `Client.submit`."""
        return str((await self._run(_wire.submit(recordings, rig, **options))).job_id)

    async def watch(self, job_id: str) -> AsyncIterator[Any]:
        """Yields the state of a job (JobInfo) now and after each change, until the job ends."""
        reported = await self._run(_wire.subscribe(job_id))
        yield reported
        while not _wire.has_ended(reported):
            reported = await self._run(_wire.next_update(job_id))
            yield reported

    async def result(self, job_id: str) -> Result:
        """Returns the result of a finished job, with table and report, without trajectories."""
        result: Result = await self._run(_wire.result(job_id))
        return result

    async def report(self, job_id: str, path: Any, *, cross_validation: bool = False) -> None:
        """Writes the report of a finished job to an HTML file."""
        page = await self._run(_wire.report(job_id, cross_validation))
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(page)

    async def cancel(self, job_id: str) -> Any:
        """Cancels a waiting or running job; returns its state (JobInfo)."""
        return await self._run(_wire.cancel(job_id))

    async def delete_job(self, job_id: str) -> None:
        """Deletes a job that has ended."""
        await self._run(_wire.delete_job(job_id))

    async def delete_session(self, session_id: str) -> None:
        """Deletes a recording from the service."""
        await self._run(_wire.delete_session(session_id))

    async def calibrate(self, recordings: RecordingsLike, rig: RigLike, *,
                        progress: ProgressLike = None, **options: Any) -> Result:
        """Uploads recordings, calibrates on the service and returns the result.

        Cancelling the coroutine cancels the job.
        """
        job_id = await self.submit(recordings, rig, **options)
        try:
            with progress_function(progress) as report:
                steps = JobIterations(report)
                async for reported in self.watch(job_id):
                    steps(reported)
        except ConnectionError:
            raise
        except BaseException:
            await asyncio.shield(self._cancel_quietly(job_id))
            raise
        result: Result = await self._run(_wire.finish(reported))
        return result

    async def _cancel_quietly(self, job_id: str) -> None:
        """Cancels a job over a new connection: this one may have received part of a message."""
        other = AsyncClient.__new__(AsyncClient)
        other.__dict__.update(_address=self._address, _timeout=self._timeout,
                              _notifications=deque(), _reader=None, _writer=None,
                              _turn=asyncio.Lock())
        try:
            async with other:
                await other.cancel(job_id)
        except (OSError, ServiceError):
            pass

    async def _run(self, operation: _wire.Operation) -> Any:
        async with self._turn:
            try:
                asked = next(operation)
                while True:
                    try:
                        waits = isinstance(asked, _wire.NextNotification)
                        reply = await (self._next() if waits else self._call(asked))
                    except ServiceError as error:
                        asked = operation.throw(error)
                    else:
                        asked = operation.send(reply)
            except StopIteration as end:
                return end.value

    async def _call(self, request: Any) -> Any:
        if self._writer is None:
            raise ConnectionError("not connected; use 'async with', or await connect()")
        try:
            self._writer.write(_wire.frame(request))
            await self._writer.drain()
        except OSError as error:
            raise _wire.unreachable(self._address, error) from None
        while True:
            try:
                reply = await asyncio.wait_for(self._receive(), self._timeout)
            except asyncio.TimeoutError as error:
                raise _wire.unreachable(self._address, error) from None
            if not _wire.is_notification(reply):
                return _wire.check_reply(reply)
            self._notifications.append(reply)

    async def _next(self) -> Any:
        if self._notifications:
            return self._notifications.popleft()
        while True:
            reply = await self._receive()
            if _wire.is_notification(reply):
                return reply
            _wire.check_reply(reply)

    async def _receive(self) -> Any:
        if self._reader is None:
            raise ConnectionError("not connected; use 'async with', or await connect()")
        try:
            head = await self._reader.readexactly(_wire.LENGTH_BYTES)
            return _wire.parse_reply(
                await self._reader.readexactly(_wire.frame_length(head)))
        except asyncio.IncompleteReadError:
            raise _wire.broken(self._address) from None
        except ConnectionError:
            raise
        except OSError as error:
            raise _wire.unreachable(self._address, error) from None
