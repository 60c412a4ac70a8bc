"""``robustmkl reproduce``: section 4 of the paper, run again and judged."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from ..experiments import Settings, check_table1
from ..experiments.settings import TABLES, Key
from ..experiments.store import Store
from ..experiments.work import Report, collect

reproduce = typer.Typer(no_args_is_help=True, help="The paper's section 4, run again and judged.")
DEFAULT = Settings()


@reproduce.command()
def table1() -> None:
    """Print Table 1 from the bundled tables, checked against the printed numbers; exit code 1 if any differs."""
    entries = check_table1()
    shown = Table("Data Set", "#Examples", "#Features", "as printed", title="Table 1. Statistics of Data Sets")
    for entry in entries:
        verdict = "yes" if entry.agrees else "no: {} x {}".format(*entry.printed)
        shown.add_row(entry.dataset, *map(str, entry.found), verdict)
    Console().print(shown)
    raise typer.Exit(0 if all(entry.agrees for entry in entries) else 1)


@reproduce.command()
def figure1(
    context: typer.Context,
    datasets: Annotated[str, typer.Option(help="Tables, separated by commas.")] = ",".join(TABLES),
    noise: Annotated[str, typer.Option(help="Noise levels q.")] = "0,0.1,0.2,0.3,0.4",
    trials: Annotated[int, typer.Option(min=0, help="Trials under the paper's stopping rule.")] = DEFAULT.trials,
    certified_trials: Annotated[int, typer.Option(min=0, help="Trials at proved optima.")] = DEFAULT.certified_trials,
    lams: Annotated[str, typer.Option(help="Fine grid of lam.  [default: 1 to 0.001, six a decade]")] = "",
    coarse: Annotated[int, typer.Option(min=1, help="The coarse grid is every so many of them.")] = DEFAULT.coarse,
    test_labels: Annotated[str, typer.Option(help="Test labels that count: clean or noisy.")] = "clean",
    out: Annotated[Path, typer.Option(help="Folder of runs, pictures, CSV and report.")] = Path("reproduction"),
    jobs: Annotated[int, typer.Option(help="Processes; -1 is one for each core.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Every part in small, in two minutes.")] = False,
    report_only: Annotated[bool, typer.Option("--report-only", help="Judge what is there; run nothing.")] = False,
) -> None:
    """Run Figure 1 and the measurements behind each claim, and judge them.

    Every finished run is one file in OUT/runs. The same command again goes on where it was stopped.
    """
    console = Console(stderr=True)
    try:
        settings = _settings(datasets, noise, trials, certified_trials, lams, coarse, quick)
        if test_labels not in ("clean", "noisy"):
            raise ValueError(f"--test-labels must be clean or noisy, got {test_labels!r}.")
        store = Store(out, settings)
        if not report_only:
            with _progress(console, store, settings) as report:
                collect(store, settings, jobs, report)
        path = _write(store, settings, test_labels, out, _command(context))
    except ValueError as error:
        console.print(f"robustmkl: {error}", markup=False)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        console.print("Interrupted. Finished runs are kept: the same command goes on from here.")
        raise typer.Exit(130) from None
    typer.echo(path)


def _settings(
    datasets: str, noise: str, trials: int, certified_trials: int, lams: str, coarse: int, quick: bool
) -> Settings:
    """Return the settings that the options ask for."""
    names = tuple(name.strip() for name in datasets.split(","))
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        raise ValueError(f"--datasets knows {', '.join(TABLES)}, not {', '.join(unknown)}.")
    grid = _numbers("--lams", lams)[::-1] if lams else DEFAULT.lams
    levels = _numbers("--noise", noise)
    if grid[-1] <= 0.0:
        raise ValueError(f"--lams must be positive, got {lams}.")
    if any(not 0.0 <= q < 0.5 for q in levels):
        raise ValueError(f"--noise must be levels in [0, 0.5), got {noise}.")
    asked = Settings(names, levels, certified_trials, trials, lams=grid, coarse=coarse)
    return asked.quick() if quick else asked


def _numbers(option: str, text: str) -> tuple[float, ...]:
    """Return the numbers of an option, each once, in increasing order."""
    try:
        return tuple(sorted({float(number) for number in text.split(",")}))
    except ValueError:
        raise ValueError(f"{option} must be numbers separated by commas, got {text!r}.") from None


def _write(store: Store, settings: Settings, test_labels: str, out: Path, command: str) -> Path:
    """Write the report from all finished runs."""
    from ..experiments.report import write_report  # the pictures' library loads in a second
    from ..experiments.runs import Collection

    found = Collection.load(store, settings, test_labels)
    return write_report(found, out, command)


def _command(context: typer.Context) -> str:
    """Return the command, with the options that change the results and are not at their defaults."""
    words = ["robustmkl", "reproduce", "figure1"]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if parameter.name not in ("out", "jobs", "report_only") and value != parameter.default:
            words += [parameter.opts[0]] if value is True else [parameter.opts[0], str(value)]
    return shlex.join(words)


@contextmanager
def _progress(console: Console, store: Store, settings: Settings) -> Iterator[Report]:
    """Show what is done and the time left, on the error stream."""
    plan = settings.plan()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task("runs", total=len(plan), completed=sum(store.has(key) for key in plan))

        def report(key: Key) -> None:
            bar.update(task, advance=1, description=key.name)
            if not console.is_terminal:
                done = bar.tasks[task]
                console.print(f"{done.completed:.0f}/{done.total:.0f} {key.name}, {_left(done.time_remaining)} left")

        yield report


def _left(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"{seconds / 60:.0f} min"
