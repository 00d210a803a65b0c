"""The notebooks run from the first cell to the last, with the results that they state."""

import nbformat
import pytest

from conftest import ROOT

nbclient = pytest.importorskip("nbclient")
from jupyter_client.manager import AsyncKernelManager  # noqa: E402, nbclient brings it

EXAMPLES = ROOT / "docs" / "examples"


def execute(notebook, folder):
    """Runs with sockets in a folder, not ports: Jupyter chooses ports before it opens them, and
    another test may take them."""
    manager = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(folder / "kernel"))
    nbclient.NotebookClient(notebook, km=manager, timeout=300,
                            resources={"metadata": {"path": str(EXAMPLES)}}).execute()


def run(name, claim, folder):
    """Executes a notebook, and a cell with a claim about its variables. Returns the outputs."""
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("assert " + claim))
    execute(notebook, folder)
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def test_first_calibration_finds_the_truth(tmp_path):
    outputs = run("first_calibration.ipynb",
                  "(comparison['deviations'].abs() < 3).all() and result.converged", tmp_path)
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 2
    assert any("the model fits" in output.get("data", {}).get("text/html", "")
               for output in outputs)


# The LQR holds the pendulum within the play that dry friction and encoder counts leave.
def test_furuta_is_balanced(tmp_path):
    run("balance_a_furuta.ipynb", "result.converged and largest < 1.0", tmp_path)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.ipynb")))
def test_notebook_is_kept_without_outputs(name):
    for cell in nbformat.read(EXAMPLES / name, as_version=4).cells:
        assert not cell.get("outputs") and not cell.get("execution_count")
