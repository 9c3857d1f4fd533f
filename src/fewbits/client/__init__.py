"""A collection behind an address, with the methods of a local one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewbits._lazy import lazy_names
from fewbits.collection import Collection
from fewbits.errors import ArgumentError, ServiceError

if TYPE_CHECKING:
    from fewbits.client._remote import RemoteCollection
else:  # which servers do without
    __getattr__, __dir__ = lazy_names(
        __name__, {"RemoteCollection": "fewbits.client._remote"}
    )

__all__ = ["RemoteCollection", "open"]


def open(
    address: Any, *, token: str | None = None, timeout: float = 60.0
) -> "Collection | RemoteCollection":
    """Open a collection: that of a folder, or one that another process serves.

    Parameters
    ----------
    address : str or Path
        A folder; or an address such as ``https://codes.example``, of a server that
        ``fewbits serve`` runs.
    token : str, default=None
        The token of the server, where it asks for one.
    timeout : float, default=60.0
        Seconds to wait for an answer of the server.

    Returns
    -------
    Collection or RemoteCollection

    Raises
    ------
    ArgumentError
        When the address is neither a text nor a path.
    ArtefactError
        When the folder is no collection, or is damaged.
    ServiceError
        When the server does not answer, or not as one, or the address begins with
        neither http:// nor https://.

    Examples
    --------
    >>> import fewbits
    >>> col = fewbits.open("https://codes.example")  # doctest: +SKIP
    >>> col.search(["bitten by a shark"], k=5)  # doctest: +SKIP
    """
    if not isinstance(address, str | Path):
        raise ArgumentError(f"expected a folder or an address, got {address!r}")
    if isinstance(address, str) and "://" in address:
        scheme = address.partition("://")[0].lower()
        if scheme not in ("http", "https"):
            local = ": give the path itself" if scheme == "file" else ""
            raise ServiceError(
                "an address begins with http:// or https://, and object storage is "
                f"not read; got {address!r}{local}"
            )
        from fewbits.client._connection import Connection
        from fewbits.client._remote import RemoteCollection

        connection = Connection(address, token, timeout)
        try:
            return RemoteCollection(connection)
        except BaseException:
            connection.close()
            raise
    return Collection.open(address)
