"""Exceptions and findings."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, Mapping, Sequence

from rigcal._display import Displayed


def format_argument(value: Any) -> str:
    """Returns an argument as text for a message: a simple value, otherwise its type."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value) if len(repr(value)) <= 60 else repr(value)[:60] + "…"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIO' else 'a'} {kind}"


@dataclass(frozen=True, repr=False)
class Finding(Displayed):
    """Finding about a recording or a rig file, such as a fault or a warning."""

    kind: str  #: an identifier for programs: "outliers", "slip", "lost-time", …
    severity: str  #: "note", "warning", or "fault" (estimates would be meaningless)
    recording: str  #: name of the recording; empty: all recordings
    channel: str  #: encoder, joint, motor or parameter; empty: none
    start: float  #: start in the recording [s]; NaN: the whole recording
    end: float
    size: float  #: size of the fault, in `unit`; NaN: none
    unit: str
    confidence: float  #: probability that the finding is real, 0 to 1
    what: str  #: description, one sentence
    advice: str  #: what the user should do
    treatment: str  #: what rigcal did automatically; empty: nothing

    def __repr__(self) -> str:
        of = f" of {self.channel}" if self.channel else ""
        return f"Finding({self.severity} '{self.kind}'{of}: {self.what})"

    @classmethod
    def _from_json(cls, fields: Mapping[str, Any]) -> Finding:
        def text(name: str) -> str:
            return str(fields.get(name, ""))

        return cls(text("kind"), text("severity"), text("recording"), text("channel"),
                   float(fields.get("fromS", nan)), float(fields.get("toS", nan)),
                   float(fields.get("size", nan)), text("unit"),
                   float(fields.get("confidence", 1.0)), text("what"), text("advice"),
                   text("treatment"))


class InputError(ValueError):
    """Exception for invalid input; the message gives location, error and remedy."""


class FaultyInput(InputError):
    """Exception for recordings or a rig file whose faults would make estimates meaningless.

    The argument `as_is=True` calibrates anyway.
    """

    def __init__(self, text: str, findings: Sequence[Mapping[str, Any] | Finding] = ()) -> None:
        super().__init__(text)
        self.findings: list[Finding] = [
            finding if isinstance(finding, Finding) else Finding._from_json(finding)
            for finding in findings]  #: including notes and warnings

    def __reduce__(self) -> tuple[Any, ...]:
        return (FaultyInput, (str(self), self.findings))


class ServiceError(Exception):
    """Exception for an error reply of the calibration service."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code  #: "NOT_FOUND", "BUSY", …: docs/protocol.md lists them

    def __reduce__(self) -> tuple[Any, ...]:
        return (ServiceError, (self.code, str(self)))
