"""Names of the files of a store; none is used twice."""

import re
import secrets

LOCK, HOLDER = "LOCK", "LOCK.holder"
_TOKEN = r"[0-9a-f]{16}"
_MANIFEST = re.compile(r"(manifest|copy)-(\d{6,18})\.json")
_OWN = re.compile(
    rf"(seg|vec)-{_TOKEN}\.arrow|(sum|ids|mih)-{_TOKEN}\.bin|del-{_TOKEN}-\d{{1,18}}\.bin"
    rf"|draft-{_TOKEN}\.tmp|(manifest|copy)-\d{{6,18}}\.json"
)


#: What the files of each prefix are; all others are manifests, or of nothing yet.
_KINDS = {
    "seg": "rows",
    "vec": "vectors",
    "sum": "checksums",
    "ids": "derived",
    "mih": "tables",
    "del": "deleted",
}


KINDS = (*_KINDS.values(), "manifests")


def kind_of(name: str) -> str:
    """Return what a file of a store is."""
    return _KINDS.get(name.partition("-")[0], "manifests")


def new_token() -> str:
    """Return a unique token of 16 hexadecimal digits."""
    return secrets.token_hex(8)


def is_token(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch(_TOKEN, text) is not None


def is_own(name: str) -> bool:
    """Return whether a file is one that may be collected when no manifest names it."""
    return _OWN.fullmatch(name) is not None


def rows_name(token: str) -> str:
    """Return the name of a file of rows, ids, codes and the user's columns."""
    return f"seg-{token}.arrow"


def vectors_name(token: str) -> str:
    return f"vec-{token}.arrow"


def sums_name(token: str) -> str:
    return f"sum-{token}.bin"


def ids_name(token: str) -> str:
    return f"ids-{token}.bin"


def derived_name(token: str) -> str:
    """Return the name of a file that search makes from codes, and can make again."""
    return f"mih-{token}.bin"


def aside_name(name: str) -> str:
    """Return the name of a damaged file that repair has replaced."""
    return f"damaged-{name}"


def deletes_name(token: str, number: int) -> str:
    return f"del-{token}-{number}.bin"


def draft_name() -> str:
    return f"draft-{new_token()}.tmp"


def manifest_name(number: int) -> str:
    return f"manifest-{number:06d}.json"


def copy_name(number: int) -> str:
    return f"copy-{number:06d}.json"


def has_segments(names: list[str]) -> bool:
    """Return whether there are files of segments."""
    return any(is_own(name) and name.startswith(("seg-", "sum-")) for name in names)


def manifest_numbers(names: list[str], kind: str = "manifest") -> list[int]:
    """Return the numbers of the manifests (or copies) among files, rising."""
    found = [match for name in names if (match := _MANIFEST.fullmatch(name))]
    numbers = {int(match[2]) for match in found if match[1] == kind}
    return sorted(n for n in numbers if f"{kind}-{n:06d}.json" in names)
