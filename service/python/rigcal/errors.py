"""What goes wrong, told in one sentence each."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, Mapping, Sequence


def shown(value: Any) -> str:
    """How a message calls an argument: a short value itself, else what it is."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value) if len(repr(value)) <= 60 else repr(value)[:60] + "…"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIO' else 'a'} {kind}"


@dataclass(frozen=True)
class Finding:
    """Something noticed about a recording or the description of the rig."""

    kind: str  #: a word for programs: "outliers", "slip", "lost-time", …
    severity: str  #: "note", "warning", or "fault": estimates would be nonsense
    recording: str  #: empty: of all
    channel: str  #: encoder, joint, motor or parameter; empty: none
    start: float  #: where in the recording [s]; NaN: everywhere
    end: float
    size: float  #: in `unit`; NaN where there is none
    unit: str
    confidence: float  #: that it is there, 0 to 1
    what: str  #: one sentence
    advice: str  #: what to do
    treatment: str  #: what rigcal did by itself; empty: nothing

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
    """Bad input. The message says where, what, and what to do."""


class FaultyInput(InputError):
    """Recordings or a description with which estimates would be nonsense.

    `as_is=True` calibrates nevertheless.
    """

    def __init__(self, text: str, findings: Sequence[Mapping[str, Any] | Finding] = ()) -> None:
        super().__init__(text)
        self.findings: list[Finding] = [
            finding if isinstance(finding, Finding) else Finding._from_json(finding)
            for finding in findings]  #: not the faults alone

    def __reduce__(self) -> tuple[Any, ...]:
        return (FaultyInput, (str(self), self.findings))


class ServiceError(Exception):
    """The service's answer was an error."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code  #: "NOT_FOUND", "BUSY", …: docs/protocol.md lists them

    def __reduce__(self) -> tuple[Any, ...]:
        return (ServiceError, (self.code, str(self)))
