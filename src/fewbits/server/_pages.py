"""Pages that were written of a bundle, and lie in its folder."""

from pathlib import Path

from fastapi import Response

from fewbits.server._errors import ApiError

#: What `fewbits inspect` writes, under the names by which the explorer looks for it.
PAGES = {"attributes": "attributes.html", "taxonomy": "taxonomy.html"}
_MOST_BYTES = 64 << 20
#: A page may show its own style and pictures, and run nothing.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "sandbox"
}


def pages_of(folder: Path | None) -> dict[str, str]:
    """Return the addresses of the pages that are there, relative to the service."""
    if folder is None:
        return {}
    return {
        name: f"v1/pages/{name}"
        for name, file in PAGES.items()
        if (folder / file).is_file()
    }


def page(folder: Path | None, name: str) -> Response:
    """Return a page; its name is one of those known, never a path."""
    if folder is None or name not in PAGES:
        raise ApiError(404, "not_found", f"pages are {' and '.join(PAGES)}")
    path = folder / PAGES[name]
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ApiError(404, "not_found", f"{path.name} is too large to be shown")
        data = path.read_bytes()
    except OSError:
        raise ApiError(
            404,
            "not_found",
            f"write it first: fewbits inspect BUNDLE --{name} BUNDLE/{PAGES[name]}",
        ) from None
    return Response(data, media_type="text/html; charset=utf-8", headers=_HEADERS)
