#!/usr/bin/env python3
"""Example of a client of the calibration service rigcald that needs only python3-protobuf.

Python programs can also use the package rigcal instead (docs/python.md). This client sends a CSV
recording to the service, calibrates with this recording, and prints the estimated parameters:

    protoc --python_out=OUT proto/*.proto       (once, in the root folder of the repository)
    PYTHONPATH=OUT docs/examples/rigcal_client.py HOST:PORT RIG.textproto RECORDING.csv \\
        --joint pivot --time t_s --angle theta1_rad

A service on another computer requires TLS: add --tls-cert, --tls-key and --tls-ca.

The columns contain times [s] and angles [rad]. docs/protocol.md describes the messages.
"""

import argparse
import csv
import socket
import ssl
import struct
import sys
import uuid

from proto import service_pb2


class ServiceFault(Exception):
    """An error that the service returned, with a message for users."""


class Connection:
    """TCP connection for messages, each after its length as a 32-bit little-endian number.

    With an ssl.SSLContext, the connection uses TLS.
    """

    def __init__(self, address, tls=None):
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=60)
        self._tls = tls
        if tls:
            self._socket = tls.wrap_socket(self._socket, server_hostname=host)

    def send(self, request):
        payload = request.SerializeToString()
        self._socket.sendall(struct.pack("<I", len(payload)) + payload)

    def receive(self):
        (size,) = struct.unpack("<I", self._read(4))
        reply = service_pb2.ServiceReply.FromString(self._read(size))
        if reply.WhichOneof("reply") == "error":
            raise ServiceFault(reply.error.text)
        if reply.WhichOneof("reply") == "session_refused":
            raise ServiceFault(reply.session_refused.text)
        return reply

    def call(self, request):
        self.send(request)
        return self.receive()

    def _read(self, size):
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionError("the service closed the connection" + (
                    "" if self._tls else "; if it requires TLS, give --tls-cert, --tls-key and "
                    "--tls-ca"))
            data += part
        return data


def stream_session(address, tls, session_id, joint, times, angles):
    """Sends samples to the service as a session, and closes the session after the service has
    stored all samples on disk."""
    connection = Connection(address, tls)
    request = service_pb2.ServiceRequest()
    request.open_session.protocol_version = 1
    request.open_session.session_id = session_id
    request.open_session.metadata["hinges"] = joint
    durable = connection.call(request).session_opened.acknowledged_through

    batch_size = 100
    last = (len(times) + batch_size - 1) // batch_size
    for batch in range(durable + 1, last + 1):
        request = service_pb2.ServiceRequest()
        request.sample_batch.batch_sequence = batch
        for k in range((batch - 1) * batch_size, min(batch * batch_size, len(times))):
            sample = request.sample_batch.samples.add()
            sample.timestamp = times[k]
            sample.sequence = k
            sample.device_time_us = round(1e6 * times[k])
            sample.angle_rad.append(angles[k])
            sample.encoder_counts.append(0)
            sample.valid.append(True)
        connection.send(request)
        # Waits for each acknowledgement, to keep the example short. A client may send up to 32
        # batches before it receives an acknowledgement.
        while durable < batch:
            durable = connection.receive().acknowledge.through

    request = service_pb2.ServiceRequest()
    request.close_session.last_batch_sequence = last
    connection.call(request)


def calibrate(address, tls, job_id, session_id, rig_path):
    """Submits a calibration job, prints its progress, and returns its result."""
    connection = Connection(address, tls)
    request = service_pb2.ServiceRequest()
    request.hello.protocol_version = 2
    request.hello.client = "rigcal_client.py"
    connection.call(request)

    request = service_pb2.ServiceRequest()
    request.submit_job.job_id = job_id
    request.submit_job.spec.rig_name = rig_path
    with open(rig_path, encoding="utf-8") as rig:
        request.submit_job.spec.rig_text = rig.read()
    request.submit_job.spec.recordings.add().session_id = session_id
    connection.call(request)

    request = service_pb2.ServiceRequest()
    request.subscribe_job.job_id = job_id
    job = connection.call(request).job_info
    while job.state in (service_pb2.JOB_QUEUED, service_pb2.JOB_RUNNING):
        job = connection.receive().job_update.job
        print(f"{job.progress.stage} iteration {job.progress.iteration} cost {job.progress.cost:g}",
              file=sys.stderr)
    if job.state != service_pb2.JOB_DONE:
        raise ServiceFault(job.error)

    request = service_pb2.ServiceRequest()
    request.get_result.job_id = job_id
    return connection.call(request).job_result.result


def make_tls(options):
    """Returns the TLS settings of the command line; None without them."""
    given = (options.tls_cert, options.tls_key, options.tls_ca)
    if not any(given):
        return None
    if not all(given):
        sys.exit("rigcal_client.py: TLS needs --tls-cert, --tls-key and --tls-ca together")
    tls = ssl.create_default_context(cafile=options.tls_ca)
    tls.load_cert_chain(options.tls_cert, options.tls_key)
    return tls


def read_columns(path, time_column, angle_column):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [(float(row[time_column]), float(row[angle_column])) for row in csv.DictReader(file)]
    return [row[0] for row in rows], [row[1] for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument("rig", metavar="RIG.textproto")
    parser.add_argument("recording", metavar="RECORDING.csv")
    parser.add_argument("--joint", required=True)
    parser.add_argument("--time", default="t_s", metavar="COLUMN")
    parser.add_argument("--angle", default="theta1_rad", metavar="COLUMN")
    parser.add_argument("--tls-cert", metavar="FILE", help="certificate of this client, PEM")
    parser.add_argument("--tls-key", metavar="FILE", help="its private key, PEM")
    parser.add_argument("--tls-ca", metavar="FILE", help="authority of the service, PEM")
    options = parser.parse_args()

    name = "python-" + uuid.uuid4().hex[:12]
    try:
        tls = make_tls(options)
        times, angles = read_columns(options.recording, options.time, options.angle)
        stream_session(options.address, tls, name, options.joint, times, angles)
        result = calibrate(options.address, tls, name, name, options.rig)
    except (ServiceFault, OSError, KeyError, ValueError) as error:
        sys.exit(f"rigcal_client.py: {error}")
    for parameter in result.parameters:
        print(f"{parameter.name}\t{parameter.value:.6g}\t{parameter.standard_deviation:.2g}"
              f"\t{parameter.unit}")


if __name__ == "__main__":
    main()
