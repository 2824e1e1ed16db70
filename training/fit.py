"""Program: make Likewise better for one person, or train a network.

Without --data it learns from your own history: it finds repositories, saves and recordings, shows them, asks once, learns,
measures on the newest tenth, and installs the new bundle only if it is better. With --data it trains a network.
"""

import argparse
import errno
import importlib.util
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model.config import MODELS
from model.inference.bundle import DEFAULT, Bundle, BundleError
from model.inference.personal import find_current, personal_folder
from training.personal.found import find_sources, refuse_too_little
from training.personal.library import Entry, Library
from training.personal.plan import Plan, describe_sources, read_plan, work_folder, write_plan
from training.personal.progress import Progress
from training.runs.fit_config import FitConfig

if TYPE_CHECKING:
    from training.runs.training_run import TrainingRun

_EXAMPLES = """\
examples:
  python -m training.fit                                        learn from the repository of this folder, and what else is found
  python -m training.fit --repo ~/work/api --repo ~/work/web    learn from these repositories too
  python -m training.fit --model IA-ag --data synthetic:ContextAppend11 --out runs/first --minutes 10
                                                                train a network from the beginning

Run a command that was stopped, even killed, once more: it goes on where it was (with --data: add --resume).
"""
_TUNING_MINUTES = 10.0  # of a bundle that --init names, unless told
_SECONDS_OF_CHANGE, _SECONDS_OF_CASE = 0.15, 1.0  # on one core of a laptop; for the estimate alone
_NEEDED_BYTES = 500_000_000  # free, for examples, a run and a bundle
_NICE = 10
_STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _make_parser()
    options = parser.parse_args(arguments)
    try:
        if options.list:
            print(Library(personal_folder()).describe())
            return 0
        if options.restore is not None:
            return _restore(options.restore or None)
        is_run = any((options.data, options.model, options.init, options.out, options.steps, options.resume))
        return _train(parser, options) if is_run else _learn(options)
    except KeyboardInterrupt:
        print("\nStopped; nothing is lost. Run the same command again to go on.", file=sys.stderr)
        return _STOPPED
    except (ValueError, BundleError) as error:
        print(f"training.fit: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        where = error.filename or work_folder()
        print(
            f"training.fit: the disk is full ({where}). Nothing is lost: make room and run the same command again.",
            file=sys.stderr,
        )
        return 1


# --- learning from one's own history ---


def _learn(options: argparse.Namespace) -> int:
    """Learn from the user's own history, measure, and install or refuse."""
    work, library = work_folder(), Library(personal_folder())
    plan = _make_plan(options)
    unfinished = read_plan(work)
    if unfinished is not None and not options.fresh and unfinished.same_wishes(plan):
        print("A command that was stopped is continued; --fresh starts over.", file=sys.stderr)
        plan = unfinished
    else:
        shutil.rmtree(work, ignore_errors=True)
    progress = Progress(6 if plan.minutes else 5, as_json=options.json)
    progress.say(_describe_plan(plan))
    if not options.yes and not _is_confirmed():
        print("Nothing was done.", file=sys.stderr)
        return _STOPPED
    _refuse_full_disk(work)
    write_plan(work, plan)
    from training.personal.learning import Learning  # lightgbm and onnx are slow to import

    learned = Learning(plan, work, library, progress).run(_network_tuner(plan, progress))
    shutil.rmtree(work, ignore_errors=True)
    progress.say(_describe_end(learned.entry, is_installed=learned.is_installed))
    about = learned.entry.about
    progress.result(
        {name: about[name] for name in ("is_better", "reason", "summary")}
        | {"report": str(learned.entry.report)}
    )
    return 0


def _make_plan(options: argparse.Namespace) -> Plan:
    """Find what there is to learn from, and pin it."""
    sources = find_sources(options.folder, options.repo)
    refuse_too_little(sources)
    minutes = options.minutes
    has_torch = importlib.util.find_spec("torch") is not None
    if minutes and not has_torch:
        raise ValueError(
            "training the network needs torch: run pip install -e '.[cpu,train]', or give --minutes 0"
        )
    if minutes is None:
        minutes = _TUNING_MINUTES if has_torch else 0.0
    return Plan(
        sources=tuple(source for source in sources if source.units),
        base=str(DEFAULT),
        base_sha256=Bundle.load(DEFAULT).sha256,
        in_use=str(find_current(personal_folder()) or DEFAULT),
        eagerness=options.eagerness,
        changes=int(_bound("CHANGES", options.changes)),
        cases=int(_bound("CASES", options.cases)),
        minutes=_bound("MINUTES", minutes),
        threads=options.threads or 1,
        seed=options.seed,
    )


def _describe_plan(plan: Plan) -> str:
    """Describe the sources, the duration and the bundle that may be replaced."""
    seconds = _SECONDS_OF_CHANGE * plan.changes * 1.2 + 2 * _SECONDS_OF_CASE * plan.cases
    minutes = max(1, round(plan.minutes + seconds / 60))
    what = (
        "the network and the judge" if plan.minutes else "the judge (the network needs torch and --minutes)"
    )
    return (
        f"Found:\n{describe_sources(plan.sources)}\n"
        f"Learns: {what}, from up to {plan.changes} changes; the newest tenth is held out to measure.\n"
        f"Takes: about {minutes} minutes on {plan.threads} thread{'s' if plan.threads > 1 else ''}. Nothing leaves this machine.\n"
        f"Replaces: {_name_in_use(plan)}, only if the new bundle is better; it can be restored.\n"
        f"Writes to: {personal_folder()}"
    )


def _name_in_use(plan: Plan) -> str:
    if plan.in_use == plan.base:
        return "nothing but the choice of the shipped bundle"
    return f"your bundle {Path(plan.in_use).parent.name}"


def _describe_end(entry: Entry, *, is_installed: bool) -> str:
    verdict = "Installed" if is_installed else "Not installed"
    advice = (
        "A running service loads it within seconds. Go back with python -m training.fit --restore."
        if is_installed
        else f"The result is kept; use it anyway with python -m training.fit --restore {entry.name}"
    )
    return f"{verdict}: {entry.about['reason']}.\n{entry.about['summary']}\nReport: {entry.report}\n{advice}"


def _network_tuner(plan: Plan, progress: Progress) -> Any:
    if not plan.minutes:
        return None
    from training.personal.network import tune_network  # imports torch

    def tune(learn: Any, check: Any, work: Path) -> Path | None:
        progress.begin("train the network", 1)
        progress.end()  # the run has a bar of its own
        return tune_network(
            Path(plan.base), learn, check, work, minutes=plan.minutes, threads=plan.threads, seed=plan.seed
        )

    return tune


def _restore(name: str | None) -> int:
    in_use = Library(personal_folder()).restore(name)
    print(f"In use: {in_use}. A running service loads it within seconds.")
    return 0


def _is_confirmed() -> bool:
    if not sys.stdin.isatty():
        raise ValueError("nobody is there to ask: add --yes to go ahead")
    return input("Go ahead? [Y/n] ").strip().lower() in ("", "y", "yes")


def _refuse_full_disk(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    free = shutil.disk_usage(folder).free
    if free < _NEEDED_BYTES:
        raise ValueError(
            f"the disk of {folder} has {free // 1_000_000} MB left and {_NEEDED_BYTES // 1_000_000} MB are needed:"
            " make room and run the same command again"
        )


def _be_gentle() -> None:
    """Lower the priority: the editor is used meanwhile. Only the program does so, never a caller of `main`."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if sys.platform != "win32":
        os.nice(max(0, _NICE - os.nice(0)))


def _bound(name: str, value: float) -> float:
    """Lower a number to LIKEWISE_FIT_<NAME> of the environment: tests run the README with small limits."""
    return min(value, float(os.environ.get(f"LIKEWISE_FIT_{name}") or value))


# --- training a network ---


def _train(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Train a network on a dataset or a synthetic task."""
    from training.personal.network import adopt_judge  # these import torch, which the judge can do without
    from training.runs.finish import finish_run
    from training.runs.training_run import start_run
    from training.runs.workers import join_group

    base = Path(options.init) if options.init and (Path(options.init) / "manifest.json").is_file() else None
    if base is not None:
        _tune_gently(parser, options, base)
    missing = [f"--{name}" for name in ("model", "data", "out") if getattr(options, name) is None]
    if missing:
        raise ValueError(
            f"{', '.join(missing)} must be given to train a network; to learn from your own history run"
            " python -m training.fit without these options"
        )
    if options.minutes is not None:
        options.minutes = _bound("MINUTES", options.minutes)
    # A polite kill is like Ctrl-C: the checkpoint is written first.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    join_group()
    run = start_run(config_from_options(options), options.out, resume=options.resume)
    try:
        _fit(run, options.workers)
    except KeyboardInterrupt:
        return _STOPPED
    if not run.workers.is_first:
        return 0
    report = finish_run(run)
    test = report.get("test", {})
    print(json.dumps({name: value for name, value in test.items() if name != "by_step"}))
    if base is not None:
        adopt_judge(base, run.folder / "bundle")
    if (run.folder / "bundle").is_dir():
        print(
            f"The bundle: {run.folder / 'bundle'}. Serve it with LIKEWISE_BUNDLE={run.folder / 'bundle'} make run"
        )
    return 0


def _fit(run: "TrainingRun", workers: int) -> None:
    """Train until the budget is spent, in this process or on several workers."""
    if workers == 1:
        run.fit()
        return
    try:
        from training.runs.ray_workers import fit_on_ray  # an extra, and slow to import
    except ModuleNotFoundError:
        raise ValueError("--workers needs Ray: install likewise[ray-train], or use torchrun") from None
    fit_on_ray(run.config, run.folder, workers)
    run.resume()  # what the workers left


def _tune_gently(parser: argparse.ArgumentParser, options: argparse.Namespace, base: Path) -> None:
    """A bundle to begin with says what it is, and wants smaller steps than a network at its beginning."""
    config = Bundle.load(base).config
    gentle = {"model": config.model, "hidden": config.hidden_size, "lr": 2e-4, "warmup": 50, "batch": 12}
    for name, value in gentle.items():
        if getattr(options, name) == parser.get_default(name):
            setattr(options, name, value)
    if options.minutes is None and options.steps is None:
        options.minutes = _TUNING_MINUTES
    if options.out is None:
        options.out = Path("runs") / "tuned"


def config_from_options(options: argparse.Namespace) -> FitConfig:
    """The options of a run."""
    names = {field.name for field in fields(FitConfig)}
    values = {name: value for name, value in vars(options).items() if name in names}
    pairs = [text.partition("=") for text in options.set]
    return FitConfig(**values, model_options={name: int(number) for name, _, number in pairs})


# --- the options ---


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.fit",
        description=__doc__.partition("\n\n")[2] if __doc__ else None,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_own_options(parser)
    _add_run_options(parser)
    return parser


def _add_own_options(parser: argparse.ArgumentParser) -> None:
    own = parser.add_argument_group("learn from your own history (the default)")
    own.add_argument(
        "--repo",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="a further git repository to learn from; repeatable (default: none)",
    )
    own.add_argument(
        "--folder",
        type=Path,
        default=Path(),
        metavar="PATH",
        help="the folder whose git repository to learn from (default: the current one)",
    )
    own.add_argument("--yes", action="store_true", help="do not ask before it begins (default: ask once)")
    own.add_argument(
        "--minutes",
        type=float,
        help="minutes of training the network, on an idle machine; 0: only the judge learns, which needs no torch"
        f" (default: {_TUNING_MINUTES:.0f} where torch is installed, else 0)",
    )
    own.add_argument(
        "--eagerness",
        choices=("quiet", "balanced", "eager"),
        default="balanced",
        help="the eagerness in your editor; the new bundle is measured at it (default: %(default)s)",
    )
    own.add_argument(
        "--changes", type=int, default=800, help="the most changed files to learn from (default: %(default)s)"
    )
    own.add_argument(
        "--cases",
        type=int,
        default=120,
        help="the most held-out changed files to measure on (default: %(default)s)",
    )
    own.add_argument(
        "--fresh", action="store_true", help="start over after a stopped command (default: go on)"
    )
    own.add_argument("--json", action="store_true", help="progress as JSON lines (default: bars)")
    library = parser.add_argument_group("your bundles")
    library.add_argument(
        "--list", action="store_true", help="show your bundles and their reports, and end (default: off)"
    )
    library.add_argument(
        "--restore",
        nargs="?",
        const="",
        metavar="NAME",
        help="use the bundle before, the named one, or 'shipped', and end (default: off)",
    )


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    defaults = {field.name: field.default for field in fields(FitConfig)}

    def add(group: Any, name: str, kind: type, explanation: str) -> None:
        flag = f"--{name.replace('_', '-')}"
        group.add_argument(
            flag, type=kind, default=defaults[name], help=f"{explanation} (default: %(default)s)"
        )

    data = parser.add_argument_group("train a network: data")
    data.add_argument(
        "--data",
        help="synthetic:TASK, or the folder of a dataset from training.mine (default: your own history)",
    )
    add(data, "crop", int, "cut states down at random to this many tokens at least; 0: never")
    add(data, "dev_count", int, "instances of the dev split that choose the best weights")
    add(data, "evaluations", int, "measurements on the dev split, evenly over the budget")
    network = parser.add_argument_group("train a network: network")
    network.add_argument("--model", help=f"one of {', '.join(MODELS)} (default: that of --init)")
    network.add_argument(
        "--init",
        metavar="FOLDER",
        help="a run or a bundle whose weights to begin with (default: random weights)",
    )
    add(network, "hidden", int, "size of the hidden states")
    network.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=NUMBER",
        help="a further field of the ModelConfig; repeatable (default: none)",
    )
    network.add_argument(
        "--workers", type=int, default=1, help="processes that share the run, on Ray (default: %(default)s)"
    )
    network.add_argument(
        "--device",
        default=defaults["device"],
        help="device of torch, such as cpu or cuda (default: %(default)s)",
    )
    schedule = parser.add_argument_group("train a network: schedule (--minutes, or --steps)")
    schedule.add_argument("--steps", type=int, help="steps to train, in place of --minutes (default: none)")
    add(schedule, "lr", float, "highest learning rate; 0.0002 for a bundle in --init")
    add(schedule, "warmup", int, "steps until that rate is reached")
    add(schedule, "batch", int, "the most instances in a step")
    add(schedule, "batch_tokens", int, "the most tokens in a step; bounds memory")
    add(schedule, "average", float, "decay of a running average of the weights; 0: none")
    add(schedule, "jump_weight", float, "weight of the positions that begin a hunk")
    add(schedule, "seed", int, "seed of all random choices")
    add(
        schedule, "threads", int, "threads to use; 0: one for your own history, torch's own number for --data"
    )
    output = parser.add_argument_group("train a network: output")
    output.add_argument(
        "--out",
        type=Path,
        help="folder of the run; it holds bundle/ at the end (default with --init: runs/tuned)",
    )
    output.add_argument("--resume", action="store_true", help="continue the run in --out (default: off)")


if __name__ == "__main__":
    _be_gentle()
    sys.exit(main())
