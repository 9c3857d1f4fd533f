"""``fewbits inspect``."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    BundlePath,
    check_output,
    check_unused,
    json_option,
    print_json,
    print_table,
    say,
)
from fewbits.cli._progress import progress_bar
from fewbits.errors import ArgumentError

_BOUND = """note: inter is the distance between the centres of two classes, intra that
between an item and the centre of its class, in bits. The larger the ratio, the higher
items of the same class tend to rank; a strict ratio above 4 ranks them perfectly. Low
and high leave out the extreme 0.1 %."""


def register(app: typer.Typer) -> None:
    app.command("inspect")(inspect)


def inspect(
    bundle: BundlePath,
    bits: Annotated[
        bool, typer.Option("--bits", help="Print statistics of the bits.")
    ] = False,
    attributes: Annotated[
        Path | None,
        typer.Option(help="Write a page (.html) that shows what each bit means."),
    ] = None,
    taxonomy: Annotated[
        Path | None,
        typer.Option(
            help="Write a page (.html) about the class codes and the tree they form."
        ),
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option(
            help="Known tree for --taxonomy to compare with: a .json file with the "
            'path of each class from the root, such as {"lynx": ["animal", "cat"], '
            '"oak": ["plant"]}.'
        ),
    ] = None,
    bound: Annotated[
        bool,
        typer.Option(
            "--bound",
            help="Print the distances between and within the classes of --labels.",
        ),
    ] = False,
    labels: Annotated[
        str | None, typer.Option(help="Column of the collection with classes.")
    ] = None,
    captions: Annotated[
        str | None, typer.Option(help="Column with texts whose words name the bits.")
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column with classes: test the names of bits across classes instead "
            "of items, so that they generalise to other classes."
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            help="Your own names for --attributes: a .json file such as "
            '{"12": ["animal", "vehicle"]} for the values 0 and 1 of bit 12.'
        ),
    ] = None,
    show: Annotated[
        list[int] | None,
        typer.Option(
            help="Bit to show on the page of --attributes; may be repeated. Default: "
            "the best ones, without those that correlate with a better one."
        ),
    ] = None,
    as_json: Annotated[
        bool,
        json_option("Print the summary and all that was asked for as one JSON object."),
    ] = False,
) -> None:
    """Verify every file of BUNDLE and print a summary.

    Example: fewbits inspect my-bundle

    Example: fewbits inspect my-bundle --bits --attributes bits.html

    Example: fewbits inspect my-bundle --attributes bits.html --show 12 --show 40

    Example: fewbits inspect my-bundle --taxonomy tree.html --bound --labels label
    """
    from fewbits.bundle import (
        Bundle,
        check_taxonomy,
        read_names,
        read_tree,
        write_taxonomy,
    )
    from fewbits.bundle.serving import last_verified

    _check([taxonomy, attributes], bound, labels)
    given = {"--labels": labels, "--captions": captions, "--groups": groups}
    _check_used(
        {"--bits": bits, "--attributes": attributes is not None, "--bound": bound},
        {**given, "--names": names, "--show": show or None},
    )
    if tree is not None and taxonomy is None:
        raise ArgumentError("--tree needs --taxonomy")
    loaded = Bundle.load(bundle)
    known = None if tree is None else read_tree(tree)
    by_hand = None if names is None else read_names(names)
    summary, verification = loaded.summary(), last_verified(bundle)
    metrics = _metrics(loaded, labels, bits=bits, bound=bound)
    if taxonomy is not None:
        check_taxonomy(loaded, known)
    if attributes is not None:
        columns = {"labels": labels, "captions": captions, "groups": groups}
        _write_attributes(
            loaded, attributes, names=by_hand, bits=show or None, **columns
        )
    if taxonomy is not None:
        metrics["taxonomy"] = write_taxonomy(loaded, taxonomy, known).summary()
    if as_json:
        last = None if verification is None else verification.to_dict()
        print_json({**summary, "last_verify": last, **metrics})
        return
    _print_values(str(bundle), {**summary, "last_verify": _told(verification)})
    typer.echo("every file matches its checksum")
    _print_tables(metrics)
    if taxonomy is not None:
        typer.echo(f"page on the relations of classes: {taxonomy}")
    if attributes is not None:
        typer.echo(f"page on the meaning of bits: {attributes}")


def _told(verification: Any) -> str | None:
    """Return when every byte was read last, and what was found."""
    if verification is None:
        return None
    when = datetime.fromtimestamp(verification.at, UTC).isoformat(" ", "seconds")
    n_damages = len(verification.report.damages)
    if not n_damages:
        return f"{when}: intact"
    return f"{when}: {n_damages} part{'' if n_damages == 1 else 's'} damaged"


def _check(pages: list[Path | None], bound: bool, labels: str | None) -> None:
    """Check options before any work is done."""
    for page in pages:
        if page is not None:
            check_output(page, ".html", "pages")
    if bound and labels is None:
        raise ArgumentError("--bound needs --labels, the column with the classes")


def _check_used(wanted: dict[str, bool], given: dict[str, Any]) -> None:
    """Refuse options of a page or a table that was not requested."""
    for option, value in given.items():
        users = list(wanted) if option == "--labels" else ["--attributes"]
        if not any(wanted[user] for user in users):
            check_unused({option: value}, " or ".join(users))


def _metrics(
    bundle: Any, labels: str | None, *, bits: bool, bound: bool
) -> dict[str, dict[str, Any]]:
    """Return the statistics that were asked for, by their names in JSON."""
    from fewbits.bundle import bound_of, report_of

    found = {}
    if bits:
        found["bits"] = report_of(bundle, labels).summary()
    if bound:
        assert labels is not None
        found["bound"] = bound_of(bundle, labels).summary()
    return found


def _write_attributes(bundle: Any, path: Path, **options: Any) -> None:
    from fewbits.bundle import write_attributes

    with progress_bar("extracting") as progress:
        write_attributes(bundle, path, progress=progress, **options)


def _print_tables(metrics: dict[str, dict[str, Any]]) -> None:
    """Print the statistics of the bits and the distances of classes, if asked for."""
    if "bits" in metrics:
        of_bits = dict(metrics["bits"])
        warnings = of_bits.pop("warnings")
        _print_values("bits", of_bits)
        for warning in warnings:
            say(f"note: {warning}")
    if "bound" in metrics:
        _print_values("bound", metrics["bound"])
        typer.echo(_BOUND)


def _print_values(title: str, values: dict[str, Any]) -> None:
    rows = [[name.replace("_", " "), _plain(value)] for name, value in values.items()]
    print_table(title, ["name", "value"], rows)


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_plain(entry)}" for name, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
