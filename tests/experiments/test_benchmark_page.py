"""The page of benchmarks: every part that was measured, ratios beside their targets."""

import json

import pytest

from experiments import _benchmark_page


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(_benchmark_page, "RESULTS", tmp_path)
    return tmp_path


def written(results, name, rows):
    (results / f"benchmark_{name}.json").write_text(json.dumps(rows))
    _benchmark_page.write()
    return (results / "benchmarks.md").read_text("utf-8")


def test_decoders_stand_beside_the_float_classifier(results):
    row = {"data": "random", "classes": 1000, "batch": 1, "encode_microseconds": 20.0}
    rows = [
        {**row, "way": "float", "microseconds": 500.0, "ratio": 1.0, "right": None},
        {**row, "way": "exact", "microseconds": 5.0, "ratio": 20.0, "right": 0.05},
    ]
    rows += [{**row, "data": "icd10", "classes": 900, "right": 0.8} for row in rows]
    page = written(results, "decode", rows)
    assert "| 1 item at a time | 1,000 classes | 900 leaves of ICD-10 |" in page
    assert "| float | 500 us | 500 us, right 0.800 |" in page
    assert "| exact | 25.0 us, x 20.0, right 0.050 | 25.0 us," in page


def test_whole_searches_stand_apart_from_comparisons_alone(results):
    row = {"data": "icd10", "vectors": 74_724, "shortlist": 100, "seconds": 0.05}
    whole = {"ratio_to_product": 30.04, "ratio_to_faiss": 3.5, "recall": 0.9852}
    alone = {"nanoseconds_per_row": 99.6, "share_of_copying": 0.5}
    rows = [
        {**row, **whole, "way": "int8"},
        {**row, **alone, "way": "int8, comparison alone"},
    ]
    page = written(results, "rerank", {"rows": rows})
    assert "| 74,724 icd10 | 100 | int8 | 50 ms | x 30.0 | x 3.5 | 0.985 |" in page
    assert "| 100 | int8, comparison alone | 50 ms | 100 ns | 50% |" in page


def test_goals_of_projections_are_met_or_not(results):
    row = {"blas_ms": 80.0, "csr_ms": 8.0, "fft_ms": 4.0, "target": None}
    row |= {"share": 0.4, "share_target": None, "memory": 0.25}
    rows = [
        {**row, "name": "hadamard 3 rounds single 4096", "ms": 0.5, "ratio": 160.0},
        {**row, "name": "sparse 10% batch 256 4096", "ms": 16.0, "ratio": 5.0},
    ]
    rows[0]["target"], rows[1]["target"], rows[1]["share_target"] = 150.0, 5.5, 0.5
    page = written(results, "encode_projections", {"rows": rows})
    assert "**4,096 features**" in page
    assert "| sparse 10% | 256 | 62.5 us | 312.5 us |" in page
    assert "| **5.00** | **40%** | 25% |" in page
    assert "| hadamard 3 rounds | single | ratio | 150x | 160x | yes |" in page
    assert "| sparse 10% | batch | ratio | 5.5x | 5x | **no** |" in page
    assert "| sparse 10% | batch | share | 50% | 40% | **no** |" in page


def test_times_are_plain_numbers_of_the_machine_that_was_noted(results):
    row = {"blas_ms": 11_532.0, "csr_ms": 8.0, "fft_ms": 4.0, "target": None}
    row |= {"share": 0.4, "share_target": None, "memory": 0.25, "ratio": 1.0}
    row |= {"name": "dense single 4096", "ms": 0.0004}
    machine = {"isa": "avx512", "gflops": 117.4, "gb_per_s": 33.7}
    page = written(results, "encode_projections", {"machine": machine, "rows": [row]})
    assert "| dense | 1 | 0.4 us | 11,532,000 us | 8,000 us | 4,000 us |" in page
    assert "The machine, one thread: avx512, 117 GFLOP/s, 34 GB/s of memory." in page
    page = written(results, "encode_projections", {"rows": [row]})
    assert "The machine" not in page


def test_a_cost_above_its_target_is_in_bold(results):
    row = {"loss": "csq", "bits": 16, "seconds": 0.1, "target": 1.1}
    rows = [
        {**row, "name": "trainer", "ratio": 1.05},
        {**row, "name": "posterior", "ratio": 1.2},
        {**row, "name": "a look", "ratio": 1.6, "target": None},
        {"name": "memory", "way": "ours", "peak_bytes": 2**29},
    ]
    page = written(results, "training", rows)
    assert "| trainer | csq | 16 | 0.100 s | 1.05 | 1.1 |" in page
    assert "| posterior | csq | 16 | 0.100 s | **1.20** | 1.1 |" in page
    assert "| a look | csq | 16 | 0.100 s | 1.60 |  |" in page
    assert "ours 512 MiB" in page


def test_open_rows_of_models_are_told(results):
    row = {"head": "linear", "row_seconds": 1e-4, "batch_seconds": 0.05}
    rows = [
        {**row, "way": "exact", "open": 0.2, "open_seconds": 0.06, "wrong_bits": 0},
        {**row, "way": "fast", "open": 0.0, "open_seconds": 0.0, "wrong_bits": 1},
    ]
    page = written(results, "onnx", rows)
    assert "| exact, linear | 0.10 ms, or 60 ms (20%) | 50.0 ms | 0 |" in page
    assert "| fast, linear | 0.10 ms | 50.0 ms | 1 |" in page


def test_fits_stand_beside_faiss_and_files_beside_their_memory(results):
    size = {"n": 10_000, "d": 128, "bits": 64, "iterations": 10}
    row = {**size, "part": "time", "seconds": 0.5, "ratio": None, "loss": None}
    rows = [
        {**row, "method": "SP"},
        {**row, "method": "ITQ", "ratio": 3.0, "loss": 0.25},
        {**row, "method": "faiss", "seconds": 1.5, "loss": 0.2501},
    ]
    page = written(results, "fit", rows)
    assert "| 10,000 | 128 | 64 | 10 | SP | 0.50 s |  |  |" in page
    assert "| 10,000 | 128 | 64 | 10 | ITQ | 0.50 s | 3.00 | 0.2500 |" in page
    assert "Fits from a file" not in page
    row = {**size, "part": "memory", "method": "ITQ", "seconds": 90.0}
    row |= {"file_bytes": 2**29, "peak_bytes": 2**27}
    page = written(results, "fit", [*rows, row])
    assert "| 10,000 | 128 | 64 | 10 | ITQ | 90 s | 512 MiB | 128 MiB |" in page


def test_a_gpu_stands_beside_the_processor(results):
    sizes = {"n": 10_000, "d": 1024, "bits": 1024, "iterations": 10}
    row = {**sizes, "part": "alike", "device": "a GPU", "cores": 16, "seconds": 2.5}
    fitted = {"device_seconds": 0.5, "ratio": 5.0, "flipped": 0.02}
    fitted |= {"objective": 0.9479353, "device_objective": 0.9479352}
    wide = {**sizes, "part": "wide", "method": "ITQ", "device_seconds": 92.0}
    wide |= {"peak_bytes": 2**33, "device_peak_bytes": 2**35, "device_objective": 0.95}
    rows = [
        {**row, **fitted, "method": "ITQ"},
        {**row, **fitted, "method": "ITQ", "part": "alike, by torch", "flipped": 0.03},
        {**row, "method": "faiss"},
        wide,
        {**fitted, "part": "deep", "n": 64, "d": 3 * 8**2, "bits": 16, "seconds": 2.5},
    ]
    page = written(results, "gpu", rows)
    assert (
        "| ITQ | 2.50 s | 0.50 s | 5.0 | 0.947935 | 0.947935 | 2.00% | 3.00% |" in page
    )
    assert "| faiss | 2.50 s |  |" in page
    assert "The GPU: a GPU; 16 cores." in page
    assert "| ITQ | 92 s | 8.0 GiB | 32.0 GiB | 0.9500 |" in page
    assert "of 8 x 8 pixels" in page
