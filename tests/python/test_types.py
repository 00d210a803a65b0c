"""The package has complete type hints, which mypy accepts."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rigcal
from conftest import ROOT


def test_type_annotations_pass_mypy():
    pytest.importorskip("mypy")
    package = Path(rigcal.__file__).parent
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file",
                           str(ROOT / "pyproject.toml"), "--cache-dir=/dev/null", "-p", "rigcal"],
                          capture_output=True, text=True, cwd=package.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_public_is_documented():
    bare = []
    for name in rigcal.__all__:
        thing = getattr(rigcal, name)
        if name != "__version__" and not (thing.__doc__ or "").strip():
            bare.append(name)
    assert not bare


# CMake must copy every file of the source tree. Catches a file that is not listed.
def test_package_contains_all_source_files():
    source = ROOT / "service" / "python" / "rigcal"
    package = Path(rigcal.__file__).parent
    for path in source.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            there = package / path.relative_to(source)
            assert there.read_bytes() == path.read_bytes(), path
        if path.suffix == ".py":
            ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
