from typing import Any, Mapping, Optional, Sequence

import numpy as np

__version__: str

class Options:
    step: float
    acceleration_noise: float
    kappa: float
    compliance: float
    damping_time: float
    max_iterations: int
    refine: bool
    approach: bool
    repair: bool
    kind: str
    residual: str
    states: str

class Edits:
    start: list[str]
    free: list[str]
    fix: list[str]
    withhold: list[str]

class Selection:
    start: float
    end: float
    segments: list[int]
    def __init__(self) -> None: ...

class Rig:
    def __init__(self, name: str, text: str) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> list[dict[str, Any]]: ...
    @property
    def sensors(self) -> list[str]: ...
    @property
    def motors(self) -> list[str]: ...

class Request:
    def __init__(self, rig_name: str, rig_text: str) -> None: ...
    @property
    def options(self) -> Options: ...
    @property
    def edits(self) -> Edits: ...
    def add_recording(
        self, name: str, selection: Selection, columns: Mapping[str, np.ndarray[Any, Any]]
    ) -> None: ...
    def read_values(self, path: str) -> None: ...
    def set_values(
        self,
        file: str,
        entries: Sequence[tuple[str, str, float]],
        kind: str,
        step: float,
        state_error_weight: float,
    ) -> None: ...

class Monitor:
    def __init__(self, progress: Optional[Any], threads: int) -> None: ...

class CrossValidation:
    def json(self) -> str: ...
    def table(self) -> str: ...
    def page(self) -> str: ...

class Validation(CrossValidation):
    def trajectories(self) -> list[dict[str, Any]]: ...
    def sensors(self) -> list[tuple[str, str]]: ...

class Calibration(Validation):
    def controls(self) -> list[str]: ...

def parse_segments(text: str) -> list[int]: ...
def load_recording(request: Request) -> dict[str, Any]: ...
def simulate(
    request: Request, scenario_name: str, scenario_text: str, step: float
) -> dict[str, Any]: ...
def calibrate(request: Request, monitor: Monitor) -> Calibration: ...
def crossvalidate(
    request: Request, by: str, pieces: int, piece_length: float, monitor: Monitor
) -> CrossValidation: ...
def validate(
    request: Request, window: float, start_window: float, monitor: Monitor
) -> Validation: ...
def check(request: Request, monitor: Monitor) -> tuple[str, str, str]: ...
