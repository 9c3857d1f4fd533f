"""``verify``, ``backup``, ``compact``, ``reencode``, ``tag`` and ``restore``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_answer, print_json, print_table, progress_bar
from fewbits.errors import ArgumentError, ArtefactError


def verify(
    collection: opt.CollectionPath,
    repair: Annotated[
        bool,
        Option(
            "--repair",
            help="Put back what checksums prove, in a new commit, and say which rows "
            "are still damaged, and what to do about other damaged files.",
        ),
    ] = False,
    drop_rows: Annotated[
        bool,
        Option(
            "--drop-rows",
            help="With --repair: drop what cannot be restored: segments with damaged "
            "rows or vectors, damaged updates (the values before return), and a "
            "damaged newest manifest (an older version returns). Their files stay as "
            "damaged-*. Without it all of these stay as they are.",
        ),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Read all of COLLECTION, and name every damaged file and the rows lost with it.

    Also names files to be rebuilt, with which nothing is lost, and what is no longer
    needed, with its bytes.

    Exit status 1 if anything is damaged, unreadable or, after --repair, lost or still
    damaged.

    Example: fewbits verify my-collection

    Example: fewbits verify my-collection --repair
    """
    from fewbits.collection import Collection, tools

    if drop_rows and not repair:
        raise ArgumentError("--drop-rows needs --repair")
    report: Any
    if repair:
        report = Collection.repair_folder(collection, drop_rows=drop_rows)
        whole = report.is_complete
        whole = whole and Collection.verify_folder(collection, rows=False).is_intact
    else:
        report = Collection.verify_folder(collection)
        whole = report.is_intact
    others = tools.unused_files(collection)
    lines = [str(report)]
    for path, n_bytes in others.items():
        what = (
            "another save has left; 'fewbits compact' removes them once no process "
            "uses them"
        )
        if Path(path).name.startswith("damaged-"):
            what = "a repair has replaced; delete it once you no longer need it"
        lines.append(f"{path}: {n_bytes:,} bytes that {what}")
    facts = {"collection": str(collection), **asdict(report), "unused_files": others}
    print_answer(as_json, facts, "\n".join(lines))
    if not whole:
        raise typer.Exit(1)


def backup(
    collection: opt.CollectionPath,
    to: Annotated[
        Path, Argument(metavar="FOLDER", help="The new folder.", show_default=False)
    ],
    at: opt.At = None,
    as_json: opt.Json = False,
) -> None:
    """Copy a version of COLLECTION to a new folder, while others may change it.

    On one file system files are shared by hard links, which take no time and no space;
    a copy on another disk is one that survives this one. Changes of either folder leave
    the other as it is.

    Example: fewbits backup my-collection /mnt/backups/monday
    """
    col = opt.open_at(collection, at)
    col.backup(to)
    facts = {"version": col.version, "n_items": len(col)}
    text = f"{to}: {len(col):,} items of version {col.version:,}"
    paths = {"collection": str(collection), "backup": str(to)}
    print_answer(as_json, {**paths, **facts}, text)


def compact(
    collection: opt.CollectionPath,
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Rewrite COLLECTION without deleted rows, superseded values and dropped columns.

    It gets as few segments as possible.

    Rarely needed: `add`, `upsert` and `delete` keep the number of files small, and the
    folder at most twice as large as its items. Files that another process still reads
    stay until a later change. What a killed `build` or `reencode` has left is removed.
    Tables of multi-index hashing are written where they make searches faster.

    Example: fewbits compact my-collection
    """
    from fewbits.collection import tools

    col = opt.open_at(collection)

    def n_bytes() -> int:
        return tools.disk_bytes(col) + sum(tools.unused_files(collection).values())

    before = n_bytes()
    col.compact(timeout=timeout)
    after, tables = n_bytes(), tools.disk_bytes(col, "tables")
    facts = {"bytes_before": before, "bytes": after, "table_bytes": tables}
    sizes = f"{collection}: {after:,} bytes on disk, {before:,} before"
    text = f"{sizes}; {tables:,} are tables for search" if tables else sizes
    print_answer(as_json, {"collection": str(collection), **facts}, text)


def reencode(
    collection: opt.CollectionPath,
    encoder: Annotated[
        Path,
        Option(help="Collection whose encoder takes the place of that of COLLECTION."),
    ],
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="Folder for a new collection; COLLECTION stays as it is.",
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Encode the kept vectors of COLLECTION by the encoder of another collection.

    Ids and columns stay. Needs a collection built with --keep-vectors, and features of
    the same backbone. Without --output, the old encoder may be damaged or missing.

    Example: fewbits fit vectors.npy --learner neighbours -o better

    Example: fewbits reencode my-collection --encoder better
    """
    from fewbits.collection import Collection

    other = opt.open_at(encoder)
    folder = output or collection
    try:
        col = opt.open_at(collection)
    except ArtefactError:
        if output is not None:
            raise
        Collection.repair_folder(collection, encoder=other)
    else:
        if output is not None:
            col.save(output)
            col = opt.open_at(output)
        with progress_bar("encoding") as progress:
            col.reencode(other, progress=progress)
    col = opt.open_at(folder)
    text = f"{folder}: {len(col):,} items of {col.encoder.n_bits} bits"
    print_answer(as_json, {"collection": str(folder), **col.summary()}, text)


def tag(
    collection: opt.CollectionPath,
    name: Annotated[
        str | None,
        Argument(metavar="NAME", help="Name of a version. Default: list all."),
    ] = None,
    version: Annotated[
        int | None, Option(help="Version to name. Default: the newest.")
    ] = None,
    remove: Annotated[bool, Option("--remove", help="Remove the name.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Name a version of COLLECTION, which then stays; without a name, list versions.

    A version that has a name can be read (`search --at NAME`) whatever changes later,
    and takes the space of the rows that the newest one no longer has. Others go.

    Example: fewbits tag my-collection before-clean-up

    Example: fewbits tag my-collection before-clean-up --remove
    """
    col = opt.open_at(collection)
    if name is None:
        opt.check_unused({"--version": version, "--remove": remove}, "NAME")
    elif remove:
        opt.check_unused({"--version": version}, "a name to give")
        col.untag(name)
    else:
        col.tag(name, version)
    tags = col.tags()
    versions: list[dict[str, Any]] = [
        {"version": n, "names": sorted(name for name in tags if tags[name] == n)}
        for n in sorted({*col.versions(), *tags.values()})
    ]
    times = {x: at.isoformat() for x, at in sorted(col.tag_times().items())}
    if as_json:
        facts = {"collection": str(collection), "versions": versions}
        print_json({**facts, "since": times})
        return
    rows = [
        [
            x["version"],
            ", ".join(x["names"]) or "-",
            ", ".join(times.get(name, "-") for name in x["names"]),
        ]
        for x in versions
    ]
    print_table(str(collection), ["version", "names", "named at"], rows)


def restore(
    collection: opt.CollectionPath,
    version: Annotated[
        str, Argument(metavar="VERSION", help="Earlier version, by number or name.")
    ],
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Return COLLECTION to an earlier version: its items, columns and order.

    Later changes are lost unless the newest version has a name: 'fewbits tag' gives it
    one, and lists the versions.

    Example: fewbits restore my-collection before-clean-up
    """
    from fewbits.collection import Collection

    col = Collection.open(collection)
    col.restore(int(version) if version.isdecimal() else version, timeout=timeout)
    facts = {"at": version, "version": col.version, "n_items": len(col)}
    text = f"{collection}: {len(col):,} items as at {version}, now version "
    text += f"{col.version:,}"
    print_answer(as_json, {"collection": str(collection), **facts}, text)
