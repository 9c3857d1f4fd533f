#include "fewbits/hamming.hpp"

#include <optional>

#include <nanobind/stl/optional.h>

#include "bind.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Codes = Matrix<const std::uint8_t>;
using Allowed = std::optional<Vector<const std::uint8_t>>;

fewbits::CodeView view(const Codes& codes) {
    return {codes.data(), codes.shape(0), codes.shape(1)};
}

fewbits::Mask mask(const Allowed& allowed) { return allowed ? allowed->data() : nullptr; }

void distances(Codes queries, Codes database, Matrix<std::int32_t> out,
               std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::hamming_distances(view(queries), view(database), out.data(), n_threads);
}

void topk(Codes queries, Codes database, Allowed allowed, Matrix<std::int32_t> distances,
          Matrix<std::int64_t> rows, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::hamming_topk(view(queries), view(database), mask(allowed), rows.shape(1),
                          distances.data(), rows.data(), n_threads);
}

void within_count(Codes queries, Codes database, std::int32_t radius, Allowed allowed,
                  Vector<std::int64_t> counts, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::hamming_within_count(view(queries), view(database), radius, mask(allowed),
                                  counts.data(), n_threads);
}

void within(fewbits::HammingHits* self, Codes queries, Codes database,
            std::int32_t radius, Allowed allowed, std::size_t n_threads) {
    nb::gil_scoped_release release;
    new (self) fewbits::HammingHits(view(queries), view(database), radius, mask(allowed),
                                    n_threads);
}

void write_hits(const fewbits::HammingHits& hits, Vector<std::int32_t> distances,
                Vector<std::int64_t> rows) {
    nb::gil_scoped_release release;
    hits.write(distances.data(), rows.data());
}

}  // namespace

void bind_hamming(nb::module_& m) {
    m.def("hamming_distances", &distances, "queries"_a.noconvert(),
          "database"_a.noconvert(), "distances"_a.noconvert(), "n_threads"_a);
    m.def("hamming_topk", &topk, "queries"_a.noconvert(), "database"_a.noconvert(),
          "allowed"_a.none(), "distances"_a.noconvert(), "rows"_a.noconvert(),
          "n_threads"_a);
    m.def("hamming_within_count", &within_count, "queries"_a.noconvert(),
          "database"_a.noconvert(), "radius"_a, "allowed"_a.none(),
          "counts"_a.noconvert(), "n_threads"_a);
    nb::class_<fewbits::HammingHits>(m, "HammingHits")
        .def("__init__", &within, "queries"_a.noconvert(), "database"_a.noconvert(),
             "radius"_a, "allowed"_a.none(), "n_threads"_a)
        .def(
            "counts",
            [](const fewbits::HammingHits& hits, Vector<std::int64_t> counts) {
                hits.counts(counts.data());
            },
            "counts"_a.noconvert())
        .def("write", &write_hits, "distances"_a.noconvert(), "rows"_a.noconvert());
}
