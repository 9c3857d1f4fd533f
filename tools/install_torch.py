"""Install torch's CPU build, or say how to, but never gigabytes of CUDA by accident."""

import json
import subprocess
import sys
from importlib.util import find_spec

REQUIREMENT = "torch==2.13.0"


def main() -> None:
    if find_spec("torch"):
        return
    plan = _pip("install", "--dry-run", "--quiet", "--report", "-", REQUIREMENT)
    if plan.returncode:
        sys.exit(f"pip cannot install {REQUIREMENT}:\n{plan.stderr}")
    packages = json.loads(plan.stdout)["install"]
    names = {entry["metadata"]["name"].lower() for entry in packages}
    if cuda := sorted(name for name in names if name.startswith(("nvidia", "cuda"))):
        sys.exit(
            f"pip would install {len(cuda)} CUDA packages with {REQUIREMENT}. Set "
            "PIP_EXTRA_INDEX_URL to PyTorch's index of CPU builds, or install torch by "
            "hand, and try again."
        )
    files = [entry["download_info"]["url"] for entry in packages]
    # Modules are compiled when they are imported: most never are.
    exactly = ["install", "--quiet", "--no-deps", "--no-compile", *files]
    sys.exit(_pip(*exactly, capture=False).returncode)


def _pip(*arguments: str, capture: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", *arguments]
    return subprocess.run(command, capture_output=capture, text=True, check=False)


if __name__ == "__main__":
    main()
