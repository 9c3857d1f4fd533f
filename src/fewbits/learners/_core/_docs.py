"""Docstrings in which a class says only what its bases do not."""

import re
from inspect import cleandoc

_SECTION = re.compile(r"^(\w+)\n-{4,}\n", re.MULTILINE)


def documented(kind: type, title: str) -> dict[str, str]:
    """Return what a class says of each of its ``Parameters`` or ``Attributes``."""
    parts = _SECTION.split(cleandoc(kind.__doc__ or ""))
    return _entries(dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, ""))


def complete(kind: type) -> None:
    """Add what the bases of a class say of the parameters and attributes it shares."""
    parts = _SECTION.split(cleandoc(kind.__doc__ or ""))
    for title in {"Parameters", "Attributes"}.intersection(parts[1::2]):
        place = parts.index(title) + 1
        entries = _entries(parts[place])
        for base in kind.__mro__[1:]:
            for name, entry in documented(base, title).items():
                if "\n" not in entries.setdefault(name, entry):  # a name and a type
                    entries[name] += entry[len(entry.partition("\n")[0]) :]
        parts[place] = "\n".join(dict.fromkeys(entries.values())) + "\n\n"
    sections = zip(parts[1::2], parts[2::2], strict=True)
    bodies = (f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections)
    kind.__doc__ = "".join([parts[0], *bodies]) or None


def _entries(body: str) -> dict[str, str]:
    body = re.sub(r",\n(?=\S)", ", ", body.strip("\n"))  # names on several lines
    entries = re.split(r"\n(?=\S)", body) if body else []
    return {
        name: entry
        for entry in entries
        for name in re.split(" : |\n", entry)[0].split(", ")
    }
