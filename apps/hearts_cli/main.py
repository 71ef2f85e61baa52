"""The program `hearts`: one subcommand a class, found here and run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Protocol

import tyro

from hearts_cli.agent import ServeAgent
from hearts_cli.agents import ListAgents
from hearts_cli.bench import Bench
from hearts_cli.benchmark import Benchmark
from hearts_cli.check import CheckRecords
from hearts_cli.deal import ShowDeal
from hearts_cli.demo import Demo
from hearts_cli.exit_codes import BAD_INPUT, BROKEN_PIPE, INTERRUPTED
from hearts_cli.exploit import Exploit
from hearts_cli.export import Export
from hearts_cli.play import Play
from hearts_cli.rules import ListRules
from hearts_cli.show import ShowRecord
from hearts_cli.tournament import PlayTournament
from hearts_cli.train import Train, train

_EXTRAS = {
    "torch": "train",
    "tensorboard": "train",
    "matplotlib": "tournament",
    "pyarrow": "tournament",
    "onnx": "onnx",
    "ray": "dist",
    "numba": "fast",
}


class Command(Protocol):
    """A subcommand: its fields are its arguments."""

    def run(self) -> int:
        """Run the command and return its exit code."""
        ...


COMMANDS: dict[str, type[Command]] = {
    "agents": ListAgents,
    "rules": ListRules,
    "deal": ShowDeal,
    "check": CheckRecords,
    "show": ShowRecord,
    "export": Export,
    "tournament": PlayTournament,
    "benchmark": Benchmark,
    "play": Play,
    "agent": ServeAgent,
    "exploit": Exploit,
    "train": Train,
    "bench": Bench,
    "demo": Demo,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hearts` with these arguments (default: the process's) and return the exit code.

    What is wrong with the input becomes one sentence on standard error and exit code 2; Ctrl-C gives 130.  Raises
    SystemExit for `--help` and for arguments that no subcommand takes.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("hearts: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # So that Python does not complain when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ValueError, OSError) as error:
        return _refuse(_sentence(error))
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        return _refuse(f"this needs {error.name}: pip install 'hearts_env[{_EXTRAS[error.name]}]'")
    return code


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["train"]:
        # Its configuration lives beside the training loop, where torch is: nobody else should wait for that.
        return train(arguments[1:])
    command: Command = tyro.extras.subcommand_cli_from_dict(
        dict(COMMANDS),
        prog="hearts",
        description="The card game Hearts: deals, agents, tournaments and training.",
        args=arguments,
        config=(tyro.conf.FlagCreatePairsOff,),
    )
    return command.run()


def _refuse(sentence: str) -> int:
    print(f"hearts: {sentence}", file=sys.stderr)
    return BAD_INPUT


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())
