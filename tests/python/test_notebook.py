"""The notebook runs from its first cell to its last, with the results that it states."""

import nbformat
import pytest

from conftest import ROOT

nbclient = pytest.importorskip("nbclient")
from jupyter_client.manager import AsyncKernelManager  # noqa: E402, nbclient brings it

NOTEBOOK = ROOT / "docs" / "examples" / "first_calibration.ipynb"


def execute(notebook, folder):
    """Runs with sockets in a folder, not ports: Jupyter chooses ports before it opens them, and
    another test may take them."""
    manager = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(folder / "kernel"))
    nbclient.NotebookClient(notebook, km=manager, timeout=300,
                            resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()


def test_notebook_runs(tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    truth = "assert (comparison['deviations'].abs() < 3).all() and result.converged"
    notebook.cells.append(nbformat.v4.new_code_cell(truth))
    execute(notebook, tmp_path)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 2
    assert any("the model fits" in output.get("data", {}).get("text/html", "")
               for output in outputs)


def test_notebook_is_kept_without_outputs():
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert not cell.get("outputs") and not cell.get("execution_count")
