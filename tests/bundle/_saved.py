"""What a bundle has saved, apart from names that are drawn at random."""

import json

import pyarrow as pa

from fewbits.bundle import Bundle


def saved(folder):
    """Return the content of each file, and that of the collection as one table."""
    files = {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}
    manifest = json.loads(files.pop("bundle.json"))
    named, _ = manifest.pop("items"), manifest.pop("sha256")
    files["bundle.json"] = json.dumps(manifest, sort_keys=True)
    if named is not None:
        sink = pa.BufferOutputStream()
        table = Bundle.load(folder).items.table.combine_chunks()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        files["items"] = sink.getvalue().to_pybytes()
    return files


def all_files(folder):
    """Return every file below a folder, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
