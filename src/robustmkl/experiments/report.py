"""The replication note: one text in Markdown, the same as self-contained HTML, the pictures and the CSV files."""

from __future__ import annotations

import platform
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path

from . import claims, laws, origin, rules, tables
from .claims import Judgement, Table
from .comparison import FEWEST, LEVEL, MARGIN, Verdict
from .pictures import pictures, rendered
from .runs import Collection
from .store import replace
from .text import ARGUMENT, CAPTIONS, LIMITS, PROTOCOL, READING

STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #222; }
table { border-collapse: collapse; font-size: .85rem; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; }
img { max-width: 100%; } code { background: #f4f4f4; }
"""


Judge = Callable[[Collection], list[Judgement]]
TITLES = {"certified": "proved optima", "paper": "the paper's stopping rule"}


def write_report(runs: Collection, folder: Path, command: str) -> Path:
    """Write all outputs into the folder; return the HTML report."""
    files = {"runs.csv": tables.runs_csv(runs), "candidates.csv.gz": tables.candidates_csv(runs)}
    files["gaps.csv"] = tables.gaps_csv(runs)
    images = {}
    for name, figure in pictures(runs).items():
        images[name] = rendered(figure, "png")
        files |= {f"{name}.png": images[name], f"{name}.svg": rendered(figure, "svg")}
    text = markdown(runs, list(images), command)
    files |= {"report.md": text.encode(), "report.html": html(text, images).encode()}
    for name, content in files.items():
        replace(folder / name, content)
    return folder / "report.html"


def html(text: str, images: dict[str, bytes]) -> str:
    """Return the text as one HTML file that needs no other."""
    from markdown_it import MarkdownIt  # the extra [report]

    body = MarkdownIt("commonmark").enable("table").render(text)
    for name, content in images.items():
        body = body.replace(f'src="{name}.png"', f'src="data:image/png;base64,{b64encode(content).decode()}"')
    title = escape(re.sub(r"^#+ ", "", text.split("\n", 1)[0]))
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>\n{body}</body></html>\n'


def sections(runs: Collection) -> dict[str, list[Judgement]]:
    """Return all judgements for which there are runs, by section."""
    noisy, proved = bool(runs.noisy_levels), bool(runs.runs["certified"])
    loose = bool(runs.runs["paper"])
    asked: dict[str, tuple[bool, tuple[Judge, ...]]] = {
        "Accuracy": (noisy, (claims.resilience, claims.worst_against_best)),
        "Accuracy without noise": (True, (claims.without_noise, claims.best_case_without_noise)),
        "Where a difference comes from": (noisy and proved, origin.JUDGES),
        "Stopping early": (noisy and proved and loose, (origin.stopping,)),
        "Which rule to follow": (noisy and proved, (rules.which_rule,)),
        "The algorithm": (bool(runs.gaps), (laws.faster, laws.theorem_2)),
        "The theory": (bool(runs.statements), (laws.theorem_1, laws.lemma_1, laws.proposition_1, laws.relaxation)),
    }  # fmt: skip
    found = {name: [j for judge in judges for j in judge(runs)] for name, (able, judges) in asked.items() if able}
    return {name: judgements for name, judgements in found.items() if judgements}


def markdown(runs: Collection, images: Sequence[str], command: str) -> str:
    """Return the note."""
    found = sections(runs)
    parts = ["# Multiple kernel learning from noisy labels: section 4, run again", _opening(runs)]
    parts += ["## In short", _in_short(found)]
    parts += ["## The claims, judged", READING.format(level=LEVEL, margin=MARGIN, fewest=FEWEST), _summary(found)]
    parts += ["## What was run", PROTOCOL.format(**_facts(runs)), *_pictures(images), *_accuracies(runs)]
    for name, judgements in found.items():
        parts += [f"## {name}", *([ARGUMENT] if name.startswith("Where") else []), *_judgements(judgements)]
        if name.startswith("Which"):
            parts += _curves(runs)
    parts += ["## Limits", LIMITS, "## To run it again", _again(command)]
    return "\n\n".join(parts) + "\n"


def _opening(runs: Collection) -> str:
    """Say what this is, and how far the runs are."""
    done = ", ".join(f'{len(of_kind)} of the kind "{TITLES[kind]}"' for kind, of_kind in runs.runs.items())
    missing = f" **{runs.missing} planned runs are missing: this is an interim note.**" if runs.missing else ""
    return (
        "A replication of T. Yang, M. Mahdavi, R. Jin, L. Zhang, Y. Zhou, *Multiple Kernel Learning from Noisy Labels "
        f"by Stochastic Programming*, ICML 2012. Accuracies are on {runs.test_labels} test labels. Runs: {done}."
        f"{missing}"
    )


def _in_short(found: dict[str, list[Judgement]]) -> str:
    """List the claims by verdict, each once; those on which the bases disagree by themselves."""
    verdicts: dict[str, list[Verdict]] = {}
    for judgement in (j for js in found.values() for j in js):
        verdicts.setdefault(judgement.claim, []).append(judgement.verdict)
    lines = []
    for verdict in Verdict:
        alike = [claim for claim, all_of in verdicts.items() if set(all_of) == {verdict}]
        lines += [f"**{verdict.value.capitalize()}:**\n\n" + "\n".join(f"* {claim}" for claim in alike)] * bool(alike)
    mixed = [
        f"* {claim} ({', '.join(f'{all_of.count(v)} x {v.value}' for v in Verdict if v in all_of)})"
        for claim, all_of in verdicts.items()
        if len(set(all_of)) > 1
    ]
    lines += ["**It depends on the grid and the stopping rule:**\n\n" + "\n".join(mixed)] * bool(mixed)
    return "\n\n".join(lines)


def _summary(found: dict[str, list[Judgement]]) -> str:
    rows = [(j.claim, j.basis, f"**{j.verdict.value}**", j.reason) for js in found.values() for j in js]
    return table((("claim", "judged by", "verdict", "numbers"), rows))


def _judgements(judgements: Sequence[Judgement]) -> list[str]:
    """Return each claim once, with a paragraph for everything it was judged by."""
    parts = []
    for claim in dict.fromkeys(j.claim for j in judgements):
        parts.append(f"### {claim}")
        for j in (j for j in judgements if j.claim == claim):
            basis = j.basis[0].upper() + j.basis[1:]
            parts += [f"*{basis}.* **{j.verdict.value.capitalize()}.** {j.reason}", *map(table, j.tables)]
    return parts


def table(content: Table) -> str:
    """Return a table in Markdown."""
    head, rows = content
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _pictures(images: Sequence[str]) -> list[str]:
    return [f"![{CAPTIONS[name]}]({name}.png)\n\n*{CAPTIONS[name]}*" for name in images]


def _accuracies(runs: Collection) -> list[str]:
    """Return the means behind the left panels."""
    names = list(runs.choices)
    first = f" (MiPMKL: the first {runs.settings.best_case_trials})"
    found = [("paper", names[:3], ""), ("certified", names, first)]
    return [
        f"**{TITLES[kind].capitalize()}: accuracy in percent, mean ± standard deviation over trials{more}.**\n\n"
        + table(claims.mean_accuracy(runs, kind, methods))
        for kind, methods, more in found
        if runs.runs[kind]
    ]


def _curves(runs: Collection) -> list[str]:
    """Return accuracy along rho and along lam, and where it is highest."""
    parts = []
    for symbol, (at, curves) in {"ρ": rules.along_rho(runs), "λ": rules.along_lam(runs)}.items():
        best = ", ".join(f"{symbol} = {x:g} at q = {q:g}" for q, x in rules.best_of(at, curves).items())
        about = "at the largest λ, where a binding budget alone decides" if symbol == "ρ" else "without budget"
        parts += [
            f"**Accuracy along {symbol}, {about}: mean over tables and trials.** Highest: {best}.",
            table(rules.curve_table(symbol, at, curves)),
        ]
    return parts


def _facts(runs: Collection) -> dict[str, str]:
    s = runs.settings

    def numbers(values: Sequence[float]) -> str:
        return ", ".join(f"{v:g}" for v in values)

    lists = {"noise": s.noise, "coarse": s.coarse_lams, "rhos": s.rhos, "more": s.more_rhos}
    counts = {name: str(getattr(s, name)) for name in ("certified_trials", "trials", "best_case_trials", "max_iter")}
    others = {"tables": ", ".join(s.datasets), "labels": runs.test_labels, "gap": f"{s.gap:g}", "tol": f"{s.tol:g}"}
    fine = {"fine": f"{len(s.lams)} values from {s.lams[0]:g} to {s.lams[-1]:g}, evenly spaced in the logarithm"}
    right = {"gap_noise": f"{s.gap_noise:g}", "gap_lam": f"{s.gap_lam:g}", "gap_total": f"{s.gap_total:g}"}
    return {name: numbers(values) for name, values in lists.items()} | counts | others | fine | right


def _again(command: str) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("robustmkl", "numpy", "scipy", "scikit-learn"))
    return (
        f"```console\n{command}\n```\n\nSeeds derive from table, noise level and trial alone, so that an interrupted "
        "run goes on where it was and ends with the same bytes. The last digits belong to the machine: "
        f"Python {platform.python_version()} on {platform.machine()} ({_processor()}), {packages}."
    )


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = re.search(r"model name\s*:\s*(.+)", text)
    return found.group(1) if found else platform.processor() or "unknown processor"
