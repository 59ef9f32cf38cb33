"""Every command with its options; what they do is in the modules beside this one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

app = typer.Typer(
    name="headway",
    help="What head-of-line blocking and loss recovery cost a message-based application.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _examples(*lines: str) -> str:
    """The examples at the end of a command's help."""
    return "\n".join(["[bold]Examples[/]", *(f"  $ {line}" for line in lines)])


StudyArgument = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A shipped study's name, or the path of a study.toml or of its folder.",
        show_default=False,
    ),
]
FolderArgument = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="A folder that `headway run` wrote.", show_default=False),
]
SetOption = Annotated[
    Optional[list[str]],  # noqa: UP045 - typer reads the annotation
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a fixed value of the scenario; a factor that varies the key is dropped. "
        "May be repeated.",
        show_default=False,
    ),
]
OnlyOption = Annotated[
    Optional[list[str]],  # noqa: UP045 - typer reads the annotation
    typer.Option(
        "--only",
        metavar="KEY=VALUE",
        help="Keep the points with this level of a factor. Repeated for one key: any of them; "
        "for several keys: all of them.",
        show_default=False,
    ),
]
ReplicationsOption = Annotated[
    Optional[int],  # noqa: UP045 - typer reads the annotation
    typer.Option("--replications", min=1, help="Runs of each point.", show_default="as the study"),
]


def _version(wanted: bool) -> None:
    if wanted:
        from headway import core

        built = ", engine built by its profile" if core.profiled() else ""
        print(f"headway {core.version()}{built}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    pass


@app.command("list", epilog=_examples("headway list"))
def list_() -> None:
    """List the studies that come with Headway."""
    from headway.cli import studies

    studies.show_list()


@app.command(
    epilog=_examples(
        "headway validate sip-random-loss",
        'headway validate my/study.toml --set run.duration="5 s"',
    )
)
def validate(study: StudyArgument, set_: SetOption = None) -> None:
    """Check a study file: every key, unit, level and combination of levels."""
    from headway.cli import studies

    studies.validate(study, set_ or [])


@app.command(
    epilog=_examples(
        "headway plan sip-random-loss",
        "headway plan sip-random-loss --only path.loss.rate=0.02 --json > specs.jsonl",
        "head -1 specs.jsonl | headway simulate -",
    )
)
def plan(
    study: StudyArgument,
    set_: SetOption = None,
    only: OnlyOption = None,
    replications: ReplicationsOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print every run's RunSpec instead, one a line.")
    ] = False,
) -> None:
    """Show a study's factors, points and runs, and the time they will take."""
    from headway.cli import studies

    studies.plan(study, set_ or [], only or [], replications, json)


@app.command(
    epilog=_examples(
        "headway run sip-random-loss",
        "headway run studies/sip-random-loss --out results --replications 100",
        'headway run sip-random-loss --only path.loss.rate="2 %" --only path.loss.correlation=0.8',
        "headway run sip-random-loss --set transport.profile=lksctp-2.6.18",
        "headway run sip-random-loss --dask tcp://scheduler:8786",
    )
)
def run(
    study: StudyArgument,
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation
        typer.Option("--out", metavar="DIR", help="Where results go.", show_default="out/NAME"),
    ] = None,
    jobs: Annotated[
        Optional[int],  # noqa: UP045 - typer reads the annotation
        typer.Option("--jobs", "-j", min=1, help="Threads.", show_default="one a CPU"),
    ] = None,
    dask: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Send the runs to this dask.distributed scheduler instead.",
            show_default=False,
        ),
    ] = None,
    replications: ReplicationsOption = None,
    only: OnlyOption = None,
    set_: SetOption = None,
    samples: Annotated[
        bool,
        typer.Option("--samples", help="Keep a row for every message and every transaction."),
    ] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    progress: Annotated[
        Literal["auto", "json", "none"],
        typer.Option(
            "--progress", help="A bar or lines, JSON lines on standard error, or nothing."
        ),
    ] = "auto",
    force: Annotated[
        bool, typer.Option("--force", help="Replace results of another plan in DIR.")
    ] = False,
) -> None:
    """Run a study and write its results and its report.

    Ctrl-C keeps what is done, and the same command goes on from there.
    The exit code is 1 when a rule of the study fails.
    """
    from headway.cli.run import Request
    from headway.cli.run import run as run_study

    run_study(
        Request(
            study=study,
            out=out,
            jobs=jobs,
            dask=dask,
            replications=replications,
            only=tuple(only or ()),
            overrides=tuple(set_ or ()),
            samples=samples,
            report=report,
            progress=progress,
            force=force,
        )
    )


@app.command(
    epilog=_examples(
        "headway report out/sip-random-loss --open",
        "headway report out/sip-random-loss --figures pdf",
    )
)
def report(
    folder: FolderArgument,
    figures: Annotated[
        Optional[Literal["svg", "pdf", "png"]],  # noqa: UP045 - typer reads the annotation
        typer.Option("--figures", help="Write every figure to a file as well, for a paper."),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
) -> None:
    """Write the report of results again, and its figures for a paper."""
    from headway.cli import results

    results.report(folder, figures, open_)


@app.command(
    epilog=_examples(
        "headway predict --list",
        'headway predict holb rate=40 rtt_s="40 ms" loss=0.5%,1%,2% delivery=ordered,unordered',
        "headway predict tcp-chain flow=voice-20ms rtt_s=20ms,100ms loss=0.1%..10%:20log "
        "--plot voip.svg",
        "headway predict tcp-chain flow=voice-20ms rtt_s=20ms..300ms:25 loss=0.1%..10%:25log "
        "--limit 200ms --plot region.html",
        "headway predict --study sip-random-loss --only path.loss.correlation=0 --csv holb.csv",
    )
)
def predict(
    model: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation
        typer.Argument(metavar="MODEL", help="The model's name.", show_default=False),
    ] = None,
    settings: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads the annotation
        typer.Argument(
            metavar="[KEY=VALUE]...",
            help="Settings of the model. A list (A,B) or a range (LOW..HIGH:COUNT, with equal "
            "ratios COUNTlog) makes a grid.",
            show_default=False,
        ),
    ] = None,
    list_: Annotated[
        bool,
        typer.Option("--list", help="List the models with inputs, outputs, source and validity."),
    ] = False,
    study: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation
        typer.Option(
            "--study",
            metavar="STUDY",
            help="Tell what the model says at every point of this study.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads the annotation
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help="What to show and plot. May be repeated.",
            show_default="the main ones",
        ),
    ] = None,
    limit: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation
        typer.Option(
            "--limit",
            metavar="VALUE",
            help="A line in the plot: where the metric has this value.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw to a .svg, .png, .pdf or .html.",
            show_default=False,
        ),
    ] = None,
    csv: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation
        typer.Option(
            "--csv", metavar="FILE", help="Write everything, in base units.", show_default=False
        ),
    ] = None,
    set_: SetOption = None,
    only: OnlyOption = None,
) -> None:
    """Say what an analytical model predicts, without any run.

    Settings are written with their units; a bare number is in the unit of its name.
    """
    from headway.cli import predict as predictions

    if list_:
        predictions.show_list(model)
        return
    predictions.run(
        predictions.Request(
            model=model,
            settings=tuple(settings or ()),
            study=study,
            overrides=tuple(set_ or ()),
            only=tuple(only or ()),
            metrics=tuple(metric or ()),
            limit=limit,
            plot=plot,
            csv=csv,
        )
    )


@app.command(
    epilog=_examples(
        "headway check out/sip-random-loss",
        "headway check --models",
        "headway check --models --variant conserving --variant printed --json > claims.json",
    )
)
def check(
    folder: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation
        typer.Argument(
            metavar="[DIR]", help="A folder that `headway run` wrote.", show_default=False
        ),
    ] = None,
    models: Annotated[
        bool,
        typer.Option("--models", help="Check the claims that an analytical model decides."),
    ] = False,
    variant: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads the annotation
        typer.Option(
            "--variant",
            metavar="NAME",
            help="Reading of the chain, for --models. May be repeated.",
            show_default="conserving",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for --models.")] = False,
) -> None:
    """Hold results against the claims and rules of their study.

    The exit code is 1 when a claim that held before no longer does, or a rule fails.
    With --models no results are needed: the models themselves are held against the claims.
    """
    from headway.errors import UserError

    if models:
        if folder is not None:
            raise UserError("--models needs no folder: it is about the models alone")
        from headway.cli import claims

        claims.show_models(variant or [], json)
        return
    if folder is None:
        raise UserError("name a folder that `headway run` wrote, or --models")
    if variant or json:
        raise UserError("--variant and --json belong to --models")
    from headway.cli import results

    results.check(folder)


@app.command(
    epilog=_examples(
        "headway simulate spec.json",
        "headway plan sip-random-loss --json | head -1 | headway simulate -",
    )
)
def simulate(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC.json",
            help="A file with one RunSpec; - for standard input.",
            show_default=False,
        ),
    ],
) -> None:
    """Simulate one run and print its metrics as JSON."""
    from headway.cli import single

    single.simulate(spec)


@app.command(epilog=_examples("headway profiles", "headway profiles --json"))
def profiles(
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
) -> None:
    """List the stack profiles: every knob, its value and where that is known from."""
    from headway.cli import single

    single.profiles(json)
