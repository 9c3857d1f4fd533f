"""How to install what only some people need."""

import json
import shlex
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from fewbits.errors import MissingExtraError


def missing_extra(what: str, extra: str) -> MissingExtraError:
    """Return the error that says what needs an extra, and how to install it."""
    return MissingExtraError(f"{what}: {install_hint(extra)}")


def install_hint(extra: str) -> str:
    """Return the command that installs an extra, from where fewbits was installed.

    Examples
    --------
    >>> install_hint("vision").startswith("pip install ")
    True
    """
    folder, options = _source()
    named = shlex.quote(f"{folder or 'fewbits'}[{extra}]")
    return " ".join(["pip install", *options, named])


def _source() -> tuple[Path | None, list[str]]:
    """Return the folder that fewbits was installed from, if any, and options of pip."""
    try:
        known = metadata.distribution("fewbits").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None, []
    found = json.loads(known or "{}")
    url = urlsplit(found.get("url", ""))
    if url.scheme != "file" or "dir_info" not in found:
        return None, []
    editable = found["dir_info"].get("editable", False)
    return Path(url2pathname(url.path)), ["-e"] * editable
