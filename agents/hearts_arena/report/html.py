"""The report of a tournament for people: `report.html`, which needs nothing else, and `report.md` with its pictures."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

from hearts_arena.report.screen import bounds, heading, remarks
from hearts_env.text.write_file import write_file

PICTURES = "report_files"
"""The folder of report.md's pictures."""
_NO_PLOTS = "The pictures need matplotlib: pip install 'hearts_env[tournament]'."
_METHOD = (
    "Every deal id was played in every seating, and the seatings of one deal id are one sample. Payoff is the mean of "
    "the others' points minus one's own. Intervals are 95 % bootstrap intervals over deal ids, p-values of paired t "
    "tests with Holm's correction for the number of pairs."
)
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child { text-align: left }
img { max-width: 100%; height: auto } pre { background: #f4f4f4; padding: .7rem; overflow-x: auto }
"""
Rows = list[list[str]]


def write_report(folder: Path, content: dict[str, Any]) -> None:
    """Write both from the content of standings.json.  Raises OSError."""
    try:
        from hearts_arena.report.plots import pictures

        drawn = pictures(content)
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        drawn = {}
    write_file(folder / "report.html", html(content, drawn))
    (folder / PICTURES).mkdir(exist_ok=True)
    for name, (_, image) in drawn.items():
        write_file(folder / PICTURES / f"{name}.png", image)
    write_file(folder / "report.md", markdown(content, drawn))


def html(content: dict[str, Any], drawn: dict[str, tuple[str, bytes]]) -> str:
    """The page: everything is in it, and it loads nothing."""
    parts = [f"<h1>Hearts tournament</h1><p>{escape(heading(content))}</p>"]
    parts += [f"<p><b>{escape(sentence)}</b></p>" for sentence in remarks(content)]
    parts += [_html_table(title, rows) for title, rows in _tables(content).items()]
    for title, image in drawn.values():
        data = base64.b64encode(image).decode()
        parts.append(f'<h2>{escape(title)}</h2><img alt="{escape(title)}" src="data:image/png;base64,{data}">')
    parts += [] if drawn else [f"<p>{_NO_PLOTS}</p>"]
    parts.append(f"<h2>Method</h2><p>{escape(_METHOD)}</p><h2>To repeat it</h2><pre>{escape(_origin(content))}</pre>")
    head = f'<meta charset="utf-8"><title>Hearts tournament</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>' + "\n".join(parts) + "</body></html>\n"


def markdown(content: dict[str, Any], drawn: dict[str, tuple[str, bytes]]) -> str:
    """The report as Markdown, with the pictures in files beside it."""
    parts = ["# Hearts tournament", heading(content), *remarks(content)]
    for title, rows in _tables(content).items():
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        rule = "|" + " --- |" + " ---: |" * (len(rows[0]) - 1)
        parts.append("\n".join([f"## {title}", "", lines[0], rule, *lines[1:]]))
    parts += [f"## {title}\n\n![{title}]({PICTURES}/{name}.png)" for name, (title, _) in drawn.items()]
    parts += [] if drawn else [_NO_PLOTS]
    parts += ["## Method", _METHOD, "## To repeat it", f"```\n{_origin(content)}\n```"]
    return "\n\n".join(parts) + "\n"


def _tables(content: dict[str, Any]) -> dict[str, Rows]:
    names = ["agent", "payoff", "95 %", "points", "95 %", "win share", "95 %", "moons", "failures", "ms/decision"]
    table: Rows = [names]
    for line in content["agents"]:
        cells = [line["agent"]]
        for name, form in (("payoff", "{:+.3f}"), ("points", "{:.3f}"), ("win_share", "{:.3f}")):
            cells += [form.format(line[name]), bounds(line["intervals"][name])]
        cells += [str(line["moons"]), str(line["failures"]), f"{1000 * line['seconds_per_decision']:.3g}"]
        table.append(cells)
    pairs: Rows = [["pair", "payoff", "95 %", "p", "p corrected", "deal ids"]]
    for pair in content["differences"]:
        numbers = [_p(pair["p"]), _p(pair["p_corrected"]), str(pair["deals"])]
        pairs.append(
            [f"{pair['agent']} over {pair['other']}", f"{pair['payoff']:+.3f}", bounds(pair["interval"]), *numbers]
        )
    meetings: Rows = [["who met", "payoff of each", "95 %"]]
    for meeting in content["meetings"][:200]:
        company = " v ".join(f"{count} {name}" for name, count in meeting["seats"])
        payoffs = [f"{one['payoff']:+.3f}" for one in meeting["payoffs"]]
        meetings.append([company, ", ".join(payoffs), ", ".join(bounds(one["interval"]) for one in meeting["payoffs"])])
    return {"Standings": table, "Paired differences of payoff": pairs, "Meetings": meetings}


def _html_table(title: str, rows: Rows) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
    return f"<h2>{escape(title)}</h2><table><tr>{head}</tr>{body}</table>"


def _origin(content: dict[str, Any]) -> str:
    versions = " ".join(f"{name} {version}" for name, version in content.get("versions", {}).items())
    return f"{content.get('command', '')}\ncommit {content.get('commit', 'unknown')}\n{versions}"


def _p(value: float | None) -> str:
    return "-" if value is None else "< 0.0001" if value < 1e-4 else f"{value:.4f}"
