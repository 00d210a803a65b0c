"""Protocol of the calibration service without sockets (docs/protocol.md).

An operation is a generator. It yields requests, receives their replies, and returns its result.
If it yields `NextNotification`, it receives the next notification. Clients differ only in how they
wait.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import ssl
import struct
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generator, Mapping, Optional, Sequence, Union

import pandas as pd
from google.protobuf.json_format import MessageToDict, Parse
from google.protobuf.message import DecodeError

from rigcal import _rigcal
from rigcal._request import (Names, Values, assignments, list_names, list_segments, positive,
                             set_options, time_window)
from rigcal._table import RecordingLike, RecordingsLike, columns_of, list_recordings, name_of
from rigcal.errors import InputError, ServiceError, format_argument
from rigcal.messages import service_pb2 as pb
from rigcal.result import Result
from rigcal.rig import Rig, RigLike, as_rig

PROTOCOL_VERSION = 2
LENGTH_BYTES = 4
REPLY_BYTES_MAX = 8 << 20
_PART_BYTES = 1 << 20
_UPLOAD_IDS_MAX = 9
_NOTIFICATIONS = ("job_update", "live_batch", "live_dropped", "live_ended")
_STATES = {pb.JOB_QUEUED: "queued", pb.JOB_RUNNING: "running", pb.JOB_DONE: "done",
           pb.JOB_FAILED: "failed", pb.JOB_CANCELLED: "cancelled"}


class NextNotification:
    """Marker that an operation yields to wait for the next notification of the service."""


Operation = Generator[Union[pb.ServiceRequest, NextNotification], Any, Any]


@dataclass(frozen=True)
class Address:
    """Address of a calibration service with the TLS settings for connecting to it."""

    text: str
    host: str
    port: int
    unix_path: str
    tls: Optional[ssl.SSLContext]


def read_address(text: Optional[str], cert: Any, key: Any, ca: Any) -> Address:
    """Parses "HOST:PORT" or "unix:/PATH"; None selects this account's or machine's service."""
    if text is None:
        text = os.environ.get("RIGCAL_SERVER") or _default_place()
    if not isinstance(text, str):
        raise InputError(f"address is {format_argument(text)}; give HOST:PORT or unix:/PATH as a string")
    files = [cert, key, ca]
    if any(files) and not all(files):
        raise InputError("TLS needs all of tls_cert, tls_key and tls_ca")
    if text.startswith("unix:"):
        if any(files):
            raise InputError(f"{text}: a Unix socket does not use TLS; omit tls_cert, tls_key, tls_ca")
        return Address(text, "", 0, text[len("unix:"):], None)
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise InputError(f"'{text}' is not an address; write HOST:PORT or unix:/PATH")
    context = _tls_context(cert, key, ca) if all(files) else None
    return Address(text, host.strip("[]"), int(port), "", context)


def _default_place() -> str:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    own = f"{runtime}/rigcald.sock" if runtime else ""
    return f"unix:{own}" if own and os.path.exists(own) else "unix:/run/rigcald/rigcald.sock"


def _tls_context(cert: Any, key: Any, ca: Any) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=os.fspath(ca))
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(os.fspath(cert), os.fspath(key))
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"TLS: {error}; check the files {cert}, {key}, {ca}") from None
    return context


def unreachable(address: Address, error: Exception) -> ConnectionError:
    return ConnectionError(f"{address.text}: the service cannot be reached ({error}); is rigcald "
                           "running there?")


def broken(address: Address) -> ConnectionError:
    return ConnectionError(f"{address.text}: the service closed the connection; a job that was "
                           "submitted continues")


def frame(request: pb.ServiceRequest) -> bytes:
    payload: bytes = request.SerializeToString()
    return struct.pack("<I", len(payload)) + payload


def frame_length(head: bytes) -> int:
    length: int = struct.unpack("<I", head)[0]
    if length > REPLY_BYTES_MAX:
        raise ConnectionError(f"a reply of {length} bytes: this is not a rigcal service")
    return length


def parse_reply(payload: bytes) -> pb.ServiceReply:
    try:
        reply: pb.ServiceReply = pb.ServiceReply.FromString(payload)
    except DecodeError:
        raise ConnectionError("an unreadable reply: this is not a rigcal service") from None
    return reply


def is_notification(reply: pb.ServiceReply) -> bool:
    return reply.WhichOneof("reply") in _NOTIFICATIONS


def check_reply(reply: pb.ServiceReply) -> pb.ServiceReply:
    if reply.WhichOneof("reply") == "error":
        raise ServiceError(pb.ServiceError.Code.Name(reply.error.code), reply.error.text)
    return reply


def state_of(job: pb.JobInfo) -> str:
    """Returns the state of a job: "queued", "running", "done", "failed" or "cancelled"."""
    return _STATES.get(job.state, "unknown")


def has_ended(job: pb.JobInfo) -> bool:
    return state_of(job) in ("done", "failed", "cancelled")


def hello() -> Operation:
    welcome = yield pb.ServiceRequest(
        hello=pb.Hello(protocol_version=PROTOCOL_VERSION, client=f"rigcal.py {_rigcal.__version__}"))
    return welcome.welcome


def _id(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} is {format_argument(value)}; give an id of the service, a string")
    return value


def sessions() -> Operation:
    return list((yield pb.ServiceRequest(list_sessions=pb.ListSessions())).session_list.sessions)


def jobs() -> Operation:
    return list((yield pb.ServiceRequest(list_jobs=pb.ListJobs())).job_list.jobs)


def job(job_id: str) -> Operation:
    request = pb.InspectJob(job_id=_id(job_id, "job_id"))
    return (yield pb.ServiceRequest(inspect_job=request)).job_info


def cancel(job_id: str) -> Operation:
    request = pb.CancelJob(job_id=_id(job_id, "job_id"))
    return (yield pb.ServiceRequest(cancel_job=request)).job_info


def delete_job(job_id: str) -> Operation:
    yield pb.ServiceRequest(delete_job=pb.DeleteJob(job_id=_id(job_id, "job_id")))


def delete_session(session_id: str) -> Operation:
    request = pb.DeleteSession(session_id=_id(session_id, "session_id"))
    yield pb.ServiceRequest(delete_session=request)


def subscribe(job_id: str) -> Operation:
    request = pb.SubscribeJob(job_id=_id(job_id, "job_id"))
    return (yield pb.ServiceRequest(subscribe_job=request)).job_info


def next_update(job_id: str) -> Operation:
    while True:
        reply = yield NextNotification()
        if reply.WhichOneof("reply") == "job_update" and reply.job_update.job.job_id == job_id:
            return reply.job_update.job


def upload(recording: RecordingLike, index: int = 0, rig: Optional[Rig] = None) -> Operation:
    """Uploads the part of a recording that the service lacks; returns the id, a content hash."""
    name = name_of(recording, index)
    content = _content_of(recording, name, rig)
    file_name = os.path.basename(name)
    if not isinstance(recording, (str, os.PathLike)) and not file_name.endswith(".csv"):
        file_name += ".csv"
    digest = hashlib.sha256(content).hexdigest()[:40]
    state = None
    for attempt in range(1, _UPLOAD_IDS_MAX + 1):
        session_id = f"file-{digest}" + (f"-{attempt}" if attempt > 1 else "")
        try:
            opened = yield pb.ServiceRequest(open_upload=pb.OpenUpload(
                session_id=session_id, file_name=file_name, size_bytes=len(content)))
            state = opened.upload_state
            break
        except ServiceError as error:
            if error.code != "EXISTS" or attempt == _UPLOAD_IDS_MAX:
                raise
    assert state is not None
    while not state.complete:
        at = state.durable_bytes
        sent = yield pb.ServiceRequest(upload_part=pb.UploadPart(
            session_id=session_id, offset_bytes=at, data=content[at:at + _PART_BYTES]))
        state = sent.upload_state
    return session_id


def _content_of(recording: RecordingLike, name: str, rig: Optional[Rig]) -> bytes:
    if isinstance(recording, (str, os.PathLike)):
        try:
            content = Path(recording).read_bytes()
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}; give the path of a recording") from None
        if not content:
            raise InputError(f"{name}: is empty; give the file of a recording")
        return content
    columns = columns_of(recording, name, rig)
    if len({len(values) for values in columns.values()}) > 1:
        raise InputError(f"{name}: columns differ in length; give columns of one length")
    text = io.StringIO()
    # All digits; missing values are empty cells.
    pd.DataFrame(columns).to_csv(text, index=False, lineterminator="\n")
    return text.getvalue().encode()


def submit(recordings: RecordingsLike, rig: RigLike, *, job_id: Optional[str] = None,
           parameters: Union[None, str, Result, Mapping[str, float]] = None, free: Names = (),
           fix: Values = (), start: Values = (), hold_out: Names = (),
           from_: Optional[float] = None, to: Optional[float] = None, segments: Any = None,
           cross_validate: bool = True, time_limit: Optional[float] = None,
           **options: Any) -> Operation:
    """Uploads recordings and submits a job, by default with a random id."""
    described = as_rig(rig)
    spec = pb.JobSpec(rig_name=os.path.basename(described.path), rig_text=described.text,
                      free=list_names(free, "free"), fix=assignments(fix, "fix"),
                      hold_out=list_names(hold_out, "hold_out"),
                      skip_cross_validation=not cross_validate,
                      time_limit_s=0.0 if time_limit is None
                      else positive(time_limit, "time_limit", " [s]"))
    begin, end = time_window(from_, to)
    # Check options and edits here, before anything is sent.
    checked = _rigcal.Request(described.path, described.text)
    set_options(checked, options)
    if isinstance(parameters, str):
        checked.set_option("parameters", parameters)
    elif isinstance(parameters, Result):
        free_ones = parameters.parameters["value"]
        spec.start.extend(assignments(dict(free_ones), "parameters"))
    elif parameters is not None:
        spec.start.extend(assignments(parameters, "parameters"))
    spec.start.extend(assignments(start, "start"))
    checked.set_edits(list(spec.start), list(spec.free), list(spec.fix), list(spec.hold_out))
    checked.check_edits()
    Parse(checked.changed_options(), spec.estimation_options)
    for index, recording in enumerate(list_recordings(recordings)):
        entry = spec.recordings.add(segments=list_segments(segments))
        if isinstance(recording, str) and recording.startswith("session:"):
            entry.session_id = recording[len("session:"):]
        else:
            entry.session_id = yield from upload(recording, index, described)
            entry.name = os.path.basename(name_of(recording, index))
        if from_ is not None:
            entry.from_s = begin
        if to is not None:
            entry.to_s = end
    chosen = "job-" + uuid.uuid4().hex if job_id is None else _id(job_id, "job_id")
    request = pb.ServiceRequest(submit_job=pb.SubmitJob(job_id=chosen, spec=spec))
    return (yield request).job_info


def result(job_id: str) -> Operation:
    """Returns the result of a finished job, with its table and report."""
    request = pb.GetResult(job_id=_id(job_id, "job_id"))
    reported = (yield pb.ServiceRequest(get_result=request)).job_result
    page = yield from report(job_id, False)
    return Result(_to_dict(reported.result), table=reported.table, page=page)


def report(job_id: str, cross_validation: bool) -> Operation:
    kind = pb.ReadReport.CROSS_VALIDATION if cross_validation else pb.ReadReport.CALIBRATION
    data = b""
    while True:
        part = (yield pb.ServiceRequest(read_report=pb.ReadReport(
            job_id=_id(job_id, "job_id"), offset_bytes=len(data), kind=kind))).file_part
        data += part.data
        if not part.data or len(data) >= part.file_size_bytes:
            return data.decode()


def finish(job_info: pb.JobInfo) -> Operation:
    """Returns the result of an ended job; raises an exception if the job has no result."""
    if state_of(job_info) != "done":
        why = job_info.error or "no reason was given"
        if job_info.is_time_over:
            raise TimeoutError(f"job '{job_info.job_id}': {why}")
        raise ServiceError(state_of(job_info).upper(), f"job '{job_info.job_id}': {why}")
    return (yield from result(job_info.job_id))


def _to_dict(message: Any) -> dict[str, Any]:
    """Converts a message to proto3 JSON with all fields, as rigcal writes it, for any Protobuf."""
    try:
        reported = MessageToDict(message, always_print_fields_with_no_presence=True)
    except TypeError:
        reported = MessageToDict(message, including_default_value_fields=True)
    result: dict[str, Any] = json.loads(json.dumps(reported))
    return result
