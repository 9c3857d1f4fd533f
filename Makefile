# Two commands on a fresh machine with Python >= 3.11, make and a C++ compiler:
#   make demo    install what the demo needs and run it on real data
#   make test    install the rest and pass the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(shell find native -name '*.[ch]pp')
SANITIZED := build/sanitized
RACES := build/races

.PHONY: demo test test-slow nightly fuzz test-processors test-lowest coverage \
  native-test native-tsan packages wheel \
  lint bench docs pages pictures clean

demo: $(VENV)/demo.stamp
	$(BIN)/fewbits demo

# Processes of pytest take all cores; threads of BLAS beside them would wait in circles.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist worksteal
# Compiled once: hundreds of processes import the same modules. The one done first
# takes over files of the others.
export PYTHONDONTWRITEBYTECODE :=

# The native tests run beside the others; all that they print is shown if they fail.
test: $(VENV)/dev.stamp
	@mkdir -p build
	@$(MAKE) --no-print-directory native-test >build/native-test.log 2>&1 & native=$$!; \
	$(PYTEST) -m "not slow" -p no:schemathesis; python=$$?; \
	wait $$native; native=$$?; \
	if [ $$native = 0 ]; then tail -n 3 build/native-test.log; \
	else cat build/native-test.log; fi; \
	exit $$((python || native))

# What takes seconds each: browsers, killed processes, power failures, whole documents.
test-slow: $(VENV)/dev.stamp
	$(PYTEST) -m slow

# The store at full size: 10,000 runs of its state machine, 10,000 flipped bits, every
# power failure, 50 kills. The service: 10,000 fuzzed requests, 1,000 swaps of snapshots
# under load, ten minutes of soak. The explorer: every view of images of clothes; whatever
# reads the page too early, as answers come late or the page is slow. What holds for
# whatever is drawn: twenty times as many examples.
nightly: $(VENV)/dev.stamp
	FEWBITS_NIGHTLY=1 $(PYTEST) tests/store tests/server tests/cli/test_demo.py \
	  tests/explorer/test_clothes.py tests/analysis tests/classify \
	  tests/codes tests/evaluation tests/collection tests/index tests/inputs tests/kernels
	FEWBITS_SLOW_ANSWERS=400 $(PYTEST) tests/explorer
	FEWBITS_SLOW_PAGE=6 $(PYTEST) tests/explorer -k "not axe"

# Fuzz each reader with malformed files for ten minutes.
fuzz: $(VENV)/dev.stamp
	$(BIN)/python -m tools.fuzz_readers

# What trains, once more, as processors without AVX-512 and without AVX2 compute;
# with FEWBITS_NIGHTLY=1 as all kinds of processors that this one can act as.
test-processors: $(VENV)/dev.stamp
	$(ONE_THREAD) $(BIN)/python tools/other_processors.py -q -n auto --dist worksteal \
	  -p no:schemathesis

# A part of the tests with the lowest versions of other packages that are promised.
test-lowest: $(VENV)/dev.stamp
	$(BIN)/python -m tools.lowest

# Which lines no test runs; half as long again.
coverage: $(VENV)/dev.stamp
	$(PYTEST) --cov --cov-report=term:skip-covered

native-test: $(VENV)/dev.stamp
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DFEWBITS_NATIVE_TESTS=ON -DFEWBITS_SANITIZE=ON -DFEWBITS_WERROR=ON \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo
	$(BIN)/cmake --build $(SANITIZED)
	$(BIN)/ctest --test-dir $(SANITIZED) --output-on-failure --parallel 2

# The same tests under the thread sanitizer.
native-tsan: $(VENV)/dev.stamp
	$(BIN)/cmake -S . -B $(RACES) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DFEWBITS_NATIVE_TESTS=ON -DFEWBITS_SANITIZE_THREADS=ON \
	  -DFEWBITS_WERROR=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo
	$(BIN)/cmake --build $(RACES)
	$(BIN)/ctest --test-dir $(RACES) --output-on-failure --parallel 2

# What is published: the source passes its tests, the wheel runs the demo elsewhere.
packages: $(VENV)/dev.stamp
	$(BIN)/python -m tools.check_packages

# The short form of it, of which most is the compiler's time.
wheel: $(VENV)/dev.stamp
	$(BIN)/python -m tools.check_packages --quick

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks

docs: $(VENV)/dev.stamp
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

pages: $(VENV)/dev.stamp
	$(BIN)/python -m research pages
	$(BIN)/python -m benchmarks._page

# The explorer's pictures in the docs; needs chromium and Fashion-MNIST (FEWBITS_DATA).
pictures: $(VENV)/dev.stamp
	$(BIN)/python -m tools.explorer_pictures

clean:
	rm -rf build $(VENV)

# Installing again after a change of the native sources compiles them again.
$(VENV)/demo.stamp: $(NATIVE) | $(BIN)/python
	@echo "Installing what the demo needs, about two minutes ..."
	$(BIN)/python -m pip install --quiet --editable '.[demo]'
	@touch $@

$(VENV)/dev.stamp: $(NATIVE) tools/install_torch.py | $(BIN)/python
	$(BIN)/python tools/install_torch.py
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[dev]'
	@touch $@ $(VENV)/demo.stamp

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
