"""``fewbits inspect``."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import counted, print_json, print_table, progress_bar, say
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.collection import Verification

_BOUND = """note: inter is the distance between the centres of two classes, intra that
between an item and the centre of its class, in bits. The larger the ratio, the higher
items of the same class tend to rank; a strict ratio above 4 ranks them perfectly. Low
and high leave out the extreme 0.1 %."""


def inspect(
    collection: opt.CollectionPath,
    bits: Annotated[
        bool, Option("--bits", help="Print statistics of the bits.")
    ] = False,
    attributes: Annotated[
        Path | None, Option(help="Write a page (.html) that shows what each bit means.")
    ] = None,
    taxonomy: Annotated[
        Path | None,
        Option(help="Write a page (.html) on the class codes and their tree."),
    ] = None,
    tree: Annotated[
        Path | None,
        Option(
            help="Known tree for --taxonomy to compare with: a .json file with the "
            'path of each class from the root, such as {"lynx": ["animal", "cat"], '
            '"oak": ["plant"]}.'
        ),
    ] = None,
    bound: Annotated[
        bool,
        Option(
            "--bound", help="Print distances between and within the classes of --label."
        ),
    ] = False,
    label: Annotated[
        str | None, Option(help="Column of the collection with classes.")
    ] = None,
    captions: Annotated[
        str | None, Option(help="Column with texts whose words name the bits.")
    ] = None,
    groups: Annotated[
        str | None,
        Option(
            help="Column with classes: test the names of bits across classes instead "
            "of items, so that they generalise to other classes."
        ),
    ] = None,
    names: Annotated[
        Path | None,
        Option(
            help="Your own names for --attributes: a .json file such as "
            '{"12": ["animal", "vehicle"]} for the values 0 and 1 of bit 12.'
        ),
    ] = None,
    show: Annotated[
        list[int] | None,
        Option(
            help="Bit to show on the page of --attributes; may be repeated. Default: "
            "the best ones, without those that correlate with a better one."
        ),
    ] = None,
    at: opt.At = None,
    as_json: opt.Json = False,
) -> None:
    """Print a summary of COLLECTION, and when all of it was last verified.

    Example: fewbits inspect my-collection

    Example: fewbits inspect my-collection --bits --attributes bits.html

    Example: fewbits inspect my-collection --attributes bits.html --show 12 --show 40

    Example: fewbits inspect my-collection --taxonomy tree.html --bound --label kind
    """
    from fewbits.analysis.bounds import code_bound
    from fewbits.collection import pages
    from fewbits.inputs.by_hand import read_names, read_tree

    for page in (taxonomy, attributes):
        if page is not None:
            opt.check_output(page, ".html", "pages")
    if bound and label is None:
        raise ArgumentError("--bound needs --label, the column with the classes")
    if not (bits or bound or attributes):
        opt.check_unused({"--label": label}, "--bits or --attributes or --bound")
    if attributes is None:
        of_page = {"--captions": captions, "--groups": groups, "--names": names}
        opt.check_unused({**of_page, "--show": show or None}, "--attributes")
    if taxonomy is None:
        opt.check_unused({"--tree": tree}, "--taxonomy")
    col = opt.open_at(collection, at)
    relations = None if tree is None else read_tree(tree)
    by_hand = None if names is None else read_names(names)
    summary, verification = col.summary(), col.last_verified()
    if "columns" in summary:
        summary |= {"id_column": col.id_name}
        summary |= {"types": {field.name: str(field.type) for field in col.schema}}
    summary |= {"version": col.version, "tags": col.tags()}
    metrics: dict[str, dict[str, Any]] = {}
    if bits:
        metrics["bits"] = pages.report_of(col, label).summary()
    if bound:
        classes = col.labels(str(label))
        report = code_bound(col.codes, col.encoder.n_bits, classes)
        metrics["bound"] = report.summary()
    if taxonomy is not None:
        pages.check_taxonomy(col, relations)
    if attributes is not None:
        with progress_bar("extracting") as progress:
            pages.write_attributes(
                col,
                attributes,
                label=label,
                captions=captions,
                groups=groups,
                names=by_hand,
                bits=show or None,
                progress=progress,
            )
    if taxonomy is not None:
        tree_metrics = pages.write_taxonomy(col, taxonomy, relations)
        metrics["taxonomy"] = tree_metrics.summary()
    if as_json:
        last = None if verification is None else verification.to_dict()
        print_json({**summary, "last_verify": last, **metrics})
        return
    summary.pop("columns", None)  # whose names are among the types
    summary["last_verify"] = _last_verify(verification, col.version)
    _print_values(str(collection), summary)
    if "bits" in metrics:
        warnings = metrics["bits"].pop("warnings")
        _print_values("bits", metrics["bits"])
        for warning in warnings:
            say(f"note: {warning}")
    if "bound" in metrics:
        _print_values("bound", metrics["bound"])
        typer.echo(_BOUND)
    if taxonomy is not None:
        typer.echo(f"page on the relations of classes: {taxonomy}")
    if attributes is not None:
        typer.echo(f"page on the meaning of bits: {attributes}")


def _last_verify(verification: "Verification | None", version: int) -> str:
    """Return when every byte was read last, of which version, and what was found."""
    if verification is None:
        return "never: 'fewbits verify' reads every byte"
    when = datetime.fromtimestamp(verification.at, UTC).isoformat(" ", "seconds")
    report = verification.report
    problems = counted(len(report.problems), "part") + " damaged or unreadable"
    state = f"{when}: {'intact' if report.is_intact else problems}"
    if report.number in (None, version):
        return state
    return f"{state}; that was version {report.number}, this is {version}"


def _print_values(title: str, values: dict[str, Any]) -> None:
    rows = [[name.replace("_", " "), _plain(value)] for name, value in values.items()]
    print_table(title, ["name", "value"], rows)


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{name}={_plain(entry)}" for name, entry in value.items())
        return ", ".join(pairs) or "-"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
