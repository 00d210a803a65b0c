"""Rigs and their files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Union

import pandas as pd

from rigcal import _rigcal
from rigcal.errors import InputError, format_argument


def read_text(path: Union[str, os.PathLike[str]], what: str) -> str:
    """Returns the text of a file; error messages name the expected kind of file, `what`."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{os.fspath(path)}: cannot be opened: {error.strerror}; give the path of {what}"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)}: is not UTF-8 text; give {what}") from None


class Rig:
    """Mechanism with its known values, read from a rig file (docs/reference/rig-file.md).

    Args:
        source: path of a rig file, or its text.
        name: name for messages if `source` is text.
    """

    def __init__(self, source: Union[str, os.PathLike[str]], name: str = "rig") -> None:
        if not isinstance(source, (str, os.PathLike)):
            raise InputError(f"source is {format_argument(source)}; give the path of a rig file, or its text")
        if isinstance(source, str) and ("\n" in source or "{" in source):
            self.path, self.text = name, source
        else:
            self.path, self.text = os.fspath(source), read_text(source, "a rig file")
        self._facts = _rigcal.Rig(self.path, self.text)

    @property
    def name(self) -> str:
        """Name of the rig, or the path of its file if it has no name."""
        return self._facts.name or self.path

    @property
    def columns(self) -> list[str]:
        """Names of the columns of recordings, as the rig file's block "recording" gives them."""
        return self._facts.columns

    @property
    def sensors(self) -> list[str]:
        """Names of the rig's encoders, in the order of their columns in a recording."""
        return self._facts.sensors

    @property
    def motors(self) -> list[str]:
        """Names of the driven joints, in the order of their command columns in a recording."""
        return self._facts.motors

    @property
    def parameters(self) -> pd.DataFrame:
        """Table of the value, unit, bounds and prior of each parameter, and whether it is free."""
        return pd.DataFrame(self._facts.parameters).set_index("name")

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return (_rebuild, (self.path, self.text))

    def __repr__(self) -> str:
        free = int(self.parameters["free"].sum())
        return f"Rig('{self.name}', {len(self.sensors)} encoders, {free} free parameters)"


def _rebuild(path: str, text: str) -> Rig:
    rig = Rig.__new__(Rig)
    rig.path, rig.text = path, text
    rig._facts = _rigcal.Rig(path, text)
    return rig


#: accepted as a rig
RigLike = Union[str, "os.PathLike[str]", Rig]


def as_rig(rig: RigLike) -> Rig:
    if not isinstance(rig, (str, os.PathLike, Rig)):
        raise InputError(f"rig is {format_argument(rig)}; give the path of a rig file, its text, or a Rig")
    return rig if isinstance(rig, Rig) else Rig(rig)
