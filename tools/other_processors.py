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

#: What trains, and judges what was learnt.
TESTS = ["tests/learners", "tests/training"]
#: Files and tests of what no rounding decides, such as gradients that are compared with
#: differences, single steps, files, threads, and what is refused: `make test` has them.
ELSEWHERE = [
    "tests/learners/deep/test_centres.py",
    "tests/learners/deep/test_export.py",
    "tests/learners/deep/test_losses.py",
    "tests/learners/deep/test_posterior.py",
    "tests/learners/deep/test_refit.py",
    "tests/learners/deep/test_trainer.py",
    "tests/learners/test_bad_input.py",
    "tests/learners/test_bad_labels.py",
    "tests/learners/test_checkpoint.py",
    "tests/learners/test_gradients.py",
    "tests/learners/test_memory_map.py",
    "tests/learners/test_progress.py",
    "tests/learners/test_runtime.py",
    "tests/learners/test_shared_steps.py",
    "tests/learners/test_sparse_matrix.py",
    "tests/learners/test_steps.py",
    "tests/learners/test_threads.py",
    "tests/training/test_assemble.py",
    "tests/training/test_descriptions.py",
    "tests/training/test_image_files.py",
]
LEFT_OUT = ["sklearn_contract", "checkpoint", "mistakes", "bad_parameters", "refused"]
LEFT_OUT += ["checked_before_data", "bad_labels", "are_one_line", "resume", "killed"]
LEFT_OUT += ["few_parameters", "columns_are_named", "public_learner"]
LEFT_OUT += ["pickle", "pipeline", "data_frames", "errors_name", "names_of_classes"]
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
        some += [f"--ignore={path}" for path in ELSEWHERE]
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
