"""An empty cache for each module, so that none finds what another left."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FEWBITS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
