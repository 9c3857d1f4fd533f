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

void within_fill(Codes queries, Codes database, std::int32_t radius, Allowed allowed,
                 Vector<const std::int64_t> offsets, Vector<std::int32_t> distances,
                 Vector<std::int64_t> rows, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::hamming_within_fill(view(queries), view(database), radius, mask(allowed),
                                 offsets.data(), distances.data(), rows.data(),
                                 n_threads);
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
    m.def("hamming_within_fill", &within_fill, "queries"_a.noconvert(),
          "database"_a.noconvert(), "radius"_a, "allowed"_a.none(),
          "offsets"_a.noconvert(), "distances"_a.noconvert(), "rows"_a.noconvert(),
          "n_threads"_a);
}
