"""Manifests with a checksum that fits, made as FORMAT.md says."""

import hashlib
import json


def sealed(content):
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return json.dumps({**content, "sha256": digest}).encode()


def unsealed(folder):
    content = json.loads((folder / "collection.json").read_bytes())
    del content["sha256"]
    return content


def reseal(folder, **changes):
    """Change a manifest together with its checksum; None removes a field."""
    content = {**unsealed(folder), **changes}
    (folder / "collection.json").write_bytes(sealed(content))
