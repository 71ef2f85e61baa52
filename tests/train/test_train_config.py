"""The settings of a run: groups in Python and on disk, plain options on the command line, also of earlier versions."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import tyro

torch = pytest.importorskip("torch")

from hearts_cli import train as command  # noqa: E402
from hearts_cli.main import main  # noqa: E402
from hearts_train import TrainConfig  # noqa: E402
from hearts_train.run import session  # noqa: E402
from hearts_train.run.config import OPTIONS, MachineConfig, PPOConfig, TrainError  # noqa: E402
from hearts_train.run.config_file import opened, resumed  # noqa: E402

DOCS = Path(__file__).parents[2] / "docs"
REMOVED = {"--tables-final", "--minibatch-final"}
"""Options in the commands of runs that are history."""


def parsed(*arguments: str) -> TrainConfig:
    """The configuration that the command line gives to `train`."""
    found: list[TrainConfig] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "train", found.append)
        assert command.train(list(arguments)) == 0
    return found[0]


def commands(text: str) -> list[list[str]]:
    """The arguments of every `hearts train` in the consoles of a document."""
    lines = "\n".join(re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)).replace("\\\n", " ").splitlines()
    return [shlex.split(line.split("hearts train", 1)[1], comments=True) for line in lines if "hearts train" in line]


def test_options_are_named_by_their_fields_whatever_their_group() -> None:
    config = TrainConfig(ppo=PPOConfig(lr=3e-4), machine=MachineConfig(workers=4), seed=7)
    assert TrainConfig(seed=7).with_options(lr=3e-4, workers=4) == config
    assert config.options()["lr"] == 3e-4
    assert TrainConfig().with_options(**config.options()) == config
    assert TrainConfig().with_options(opponents=("rule",)).opponents.names == ("rule",)
    with pytest.raises(TrainError, match="learning_rate=1: no such option"):
        config.with_options(learning_rate=1)


def test_every_option_of_the_documents_is_one_of_the_program() -> None:
    for file in ("training.md", "training-log.md", "small_hearts.md"):
        for arguments in commands((DOCS / file).read_text()):
            given = {argument for argument in arguments if argument.startswith("--")}
            if given & REMOVED or "--resume" in given:
                assert {flag[2:].replace("-", "_") for flag in given - REMOVED} <= OPTIONS.keys(), arguments
            else:
                assert parsed(*arguments) != TrainConfig()
    told = {flag[2:].replace("-", "_") for flag in re.findall(r"`(--[a-z][a-z-]*)", (DOCS / "training.md").read_text())}
    assert told - {flag[2:].replace("-", "_") for flag in REMOVED} - OTHERS <= OPTIONS.keys()


OTHERS = {"nproc_per_node", "standalone", "out"}
"""Options of torchrun, and of `hearts exploit`."""


@pytest.mark.parametrize("name", sorted(OPTIONS.keys() - {"resume"}))
def test_every_option_is_given_by_its_own_name(name: str) -> None:
    default, flag = TrainConfig().options()[name], f"--{name.replace('_', '-')}"
    words = {"rules": "omnibus", "precision": "bfloat16", "imitate": "rule", "eval_slow": "rule"}
    given = words.get(name, "7" if isinstance(default, int) or default is None else "0.625")
    found = parsed(flag) if default is False else parsed(flag, given)
    assert {other for other, value in found.options().items() if value != TrainConfig().options()[other]} == {name}


def test_the_help_lists_options_in_groups_and_those_of_beginners_first(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    told = capsys.readouterr().out
    order = [
        "--rules",
        "--minutes",
        "--resume",
        "ppo options",
        "--lr",
        "schedule options",
        "machine options",
        "--workers",
    ]
    places = [told.index(f" {text}") for text in order]
    assert places == sorted(places)


OLD: dict[str, Any] = {
    "rules": "standard",
    "also_rules": ["three"],
    "minutes": 98.0,
    "decisions": None,
    "seed": 62,
    "workers": 1,
    "tables": 1024,
    "tables_final": None,
    "width": 64,
    "blocks": 5,
    "pad": True,
    "lr": 4e-4,
    "entropy": 0.06,
    "aux": 0.0,
    "critic": False,
    "opponents": ["rule", "past"],
    "eval_against": ["rule"],
    "precision": "float32",
}
"""Part of a config.json from versions before settings stood in groups."""


def test_a_run_from_before_there_were_groups_is_read_and_then_written_in_groups(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(OLD))
    config = resumed(tmp_path, minutes=120)
    assert (config.ppo.lr, config.ppo.entropy, config.tables, config.minutes) == (4e-4, 0.06, 1024, 120)
    assert (config.opponents.names, config.opponents.also_rules) == (("rule", "past"), ("three",))
    assert (config.network.width, config.network.pad, config.evaluation.eval_against) == (64, True, ("rule",))
    assert opened(config) == (config, tmp_path)
    saved = json.loads((tmp_path / "config.json").read_text())
    assert (saved["ppo"]["lr"], saved["opponents"]["names"], "out" in saved) == (4e-4, ["rule", "past"], False)
    assert resumed(tmp_path) == config


def test_the_settings_of_the_network_in_the_package_are_read(tmp_path: Path) -> None:
    facts = json.loads((Path(__file__).parents[2] / "agents/hearts_agents/net/net.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(facts["training"]["config"]))
    assert resumed(tmp_path).network.blocks == 5


@pytest.mark.parametrize("damage", ['{"rules"', "[]", '{"ppo": {"learning_rate": 1}}', '{"ppo": {"lr": -1}}'])
def test_a_damaged_configuration_is_named(tmp_path: Path, damage: str) -> None:
    (tmp_path / "config.json").write_text(damage)
    with pytest.raises(TrainError, match=r"its config\.json is missing or damaged"):
        resumed(tmp_path)


def test_the_options_are_what_tyro_reads() -> None:
    assert tyro.cli(TrainConfig, args=[]) == TrainConfig()
