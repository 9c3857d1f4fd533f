"""``fewbits tag``."""

from typing import Annotated

import typer

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json, print_table


def tag(
    collection: opt.CollectionPath,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name of a version. Default: list all."),
    ] = None,
    version: Annotated[
        int | None, typer.Option(help="Version to name. Default: the newest.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the name.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Name a version of COLLECTION, which then stays; without a name, list versions.

    A version that has a name can be read (`search --at NAME`) whatever changes later,
    and takes the space of the rows that the newest one no longer has. Others go.

    Example: fewbits tag my-collection before-clean-up

    Example: fewbits tag my-collection before-clean-up --remove
    """
    from fewbits.collection import Collection

    col = Collection.open(collection)
    if name is None:
        opt.check_unused({"--version": version, "--remove": remove or None}, "NAME")
    elif remove:
        opt.check_unused({"--version": version}, "a name to give")
        col.untag(name)
    else:
        col.tag(name, version)
    names: dict[int, list[str]] = {number: [] for number in col.versions()}
    for known, number in sorted(col.tags().items()):
        names.setdefault(number, []).append(known)
    times = {x: at.isoformat() for x, at in sorted(col.tag_times().items())}
    if as_json:
        rows = [{"version": n, "names": some} for n, some in sorted(names.items())]
        content = {"collection": str(collection), "versions": rows, "since": times}
        print_json(content)
        return
    table = [
        [f"{n}", ", ".join(some) or "-", ", ".join(times.get(x, "-") for x in some)]
        for n, some in sorted(names.items())
    ]
    print_table(str(collection), ["version", "names", "named at"], table)
