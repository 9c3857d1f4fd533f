"""Pages about a bundle that lie in its folder."""

from fastapi import APIRouter, Response

from fewbits.server._pages import page
from fewbits.server._reply import also
from fewbits.server._served import Current

router = APIRouter()


@router.get("/v1/pages/{name}", response_class=Response, responses=also("text/html"))
async def pages(name: str, served: Current) -> Response:
    """Return the page about attributes or taxonomy that was written of the bundle."""
    return await served.run(page, served.folder, name)
