"""Test the learners as other processors would compute: their libraries round otherwise.

BLAS, torch and the kernels of fewbits choose their code by the processor. A training
that sums in another order ends elsewhere, and no test may depend on where. What follows
the command is handed to pytest. With FEWBITS_NIGHTLY=1, every core type, set of
instructions and number of threads that this processor can take on.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product

from fewbits import _kernels

#: What trains. Contracts, files and what is refused are left to `make test`.
TESTS = [
    "tests/learners",
    "tests/training",
]
LEFT_OUT = ["sklearn_contract", "bad_input", "bad_labels", "three_times", "checkpoint"]
LEFT_OUT += ["export", "assemble", "test_safe", "of_its_own_for_each"]
#: Of torch, on a processor without AVX2.
OLD_TORCH = {
    "ATEN_CPU_CAPABILITY": "default",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
}


def settings() -> Iterator[dict[str, str]]:
    """Yield the variables of each run: only what this processor can do, too."""
    isas = _kernels.isas()
    if "avx2" in isas:
        old = {"OPENBLAS_CORETYPE": "Sandybridge", **OLD_TORCH}
        yield {**old, "FEWBITS_ISA": "portable"}
        yield {"OPENBLAS_CORETYPE": "Haswell", "FEWBITS_ISA": isas[-1]}
    else:  # an older processor, or ARM, where no core has these names
        yield {"FEWBITS_ISA": "portable"}


def every_setting() -> Iterator[dict[str, str]]:
    """Yield each core type with each set of instructions, on one thread and on two."""
    isas = _kernels.isas()
    cores = ["Haswell", "Zen", "Sandybridge"] + ["SkylakeX"] * ("avx512" in isas)
    for core, isa, threads in product(cores, isas, "12"):
        old = OLD_TORCH if core == "Sandybridge" else {}
        counts = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        yield {"OPENBLAS_CORETYPE": core, "FEWBITS_ISA": isa, **counts, **old}


def main() -> None:
    every = os.environ.get("FEWBITS_NIGHTLY") == "1"
    for chosen in every_setting() if every else settings():
        environment = {**os.environ, **chosen}
        print(" ".join(f"{name}={value}" for name, value in chosen.items()))
        print(f"  kernels of BLAS: {', '.join(blas(environment))}", flush=True)
        some = ["-k", f"not ({' or '.join(LEFT_OUT)})"]
        command = [sys.executable, "-m", "pytest", *TESTS, *some, *sys.argv[1:]]
        if code := subprocess.run(command, env=environment, check=False).returncode:
            sys.exit(code)


def blas(environment: dict[str, str]) -> list[str]:
    """Return what the libraries have made of the variables."""
    code = (
        "import numpy, scipy.linalg, threadpoolctl\n"
        "for each in threadpoolctl.threadpool_info():\n"
        "    if each['user_api'] == 'blas': print(each.get('architecture'))"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.check_output(command, env=environment, text=True)
    return found.split()


if __name__ == "__main__":
    main()
