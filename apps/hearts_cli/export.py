"""`hearts export`: recorded deals as arrays for learning, or a network as ONNX."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from hearts_cli.arguments import opened


@dataclass(frozen=True)
class Export:
    """Write recorded deals as arrays for learning (observation, mask, action, return, ...), or a network as ONNX."""

    file: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="FILE")]
    """The records, one JSON object a line; - reads standard input.  With --onnx a network: net, net:PATH or a path."""
    out: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="OUT")] = None
    """The file to write: a name that ends in .npz or .parquet (which needs the extra parquet)."""
    onnx: Path | None = None
    """Write the network to this file: encodings in; masked logits, the best action and the value out (extra onnx)."""
    pad: bool = False
    """Pad observations to seven seats, so that one file may hold every player count."""
    order: bool = False
    """Include the order of play in observations."""

    def run(self) -> int:
        """Write the file, and print what is in it."""
        if self.onnx:
            return self._network(self.onnx)
        if self.out is None:
            raise ValueError(f"where to? give a second name, as in: hearts export {self.file} deals.npz")
        from hearts_env.text.dataset import export, parsed
        from hearts_env.text.replay import read_lines

        with opened(self.file) as stream:
            rows = export(parsed(read_lines(stream)), self.out, pad=self.pad, order=self.order)
        print(f"{rows} decisions in {self.out}")
        return 0

    def _network(self, onnx: Path) -> int:
        if self.out is not None or self.pad or self.order:
            raise ValueError("--onnx takes a network alone, as in: hearts export net --onnx net.onnx")
        from hearts_agents.net.agent import weights_of
        from hearts_train.export.onnx_file import export

        spec = export(weights_of(self.file), onnx)
        print(f"{onnx}: encoding [n, {spec.layout.size}] in; logits, action and value out")
        return 0
