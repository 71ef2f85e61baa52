"""The tutorial notebook runs from top to bottom, and what it trains beats `random`."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parent.parent.parent / "examples" / "tutorial.ipynb"


@pytest.mark.slow
def test_the_tutorial_runs_and_learns() -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs the extra notebook")
    nbformat = pytest.importorskip("nbformat")
    for needed in ("ipykernel", "matplotlib", "torch", "PIL"):
        pytest.importorskip(needed, reason="needs the extras notebook and render")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit the notebook without outputs"
    nbclient.NotebookClient(notebook, timeout=300).execute()
    (training,) = (cell for cell in notebook.cells if "SECONDS = 20" in cell.source)
    said = "".join(output.get("text", "") for output in training.outputs)
    payoff, error = (float(said.split(mark)[1].split()[0]) for mark in ("payoff ", "± "))
    assert payoff > 2 * error, said
