#include "fewbits/rerank.hpp"

#include "bind.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Queries = Matrix<const double>;
using Rows = Matrix<const std::int64_t>;
using Distances = Matrix<float>;
using Blocks = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

fewbits::VectorCandidates candidates(const Queries& queries, const Rows& rows,
                                     int metric) {
    return {queries.data(), rows.data(), rows.shape(0), rows.shape(1),
            static_cast<fewbits::Metric>(metric)};
}

template <typename T>
void vector_distances(Queries queries, Matrix<const T> vectors, Rows rows, int metric,
                      Distances distances, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::vector_distances<T>(candidates(queries, rows, metric),
                                 {vectors.data(), vectors.shape(1)}, distances.data(),
                                 n_threads);
}

/// Half precision passes as its bits.
void half_distances(Queries queries, Matrix<const std::uint16_t> vectors, Rows rows,
                    int metric, Distances distances, std::size_t n_threads) {
    nb::gil_scoped_release release;
    const auto* halves = reinterpret_cast<const fewbits::Half*>(vectors.data());
    fewbits::vector_distances<fewbits::Half>(candidates(queries, rows, metric),
                                             {halves, vectors.shape(1)},
                                             distances.data(), n_threads);
}

void int8_distances(Queries queries, Matrix<const std::int8_t> values, Blocks blocks,
                    Rows rows, int metric, Distances distances, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::vector_distances<std::int8_t>(
        candidates(queries, rows, metric),
        {values.data(), values.shape(1), blocks.data()}, distances.data(), n_threads);
}

void first_pairs(Matrix<const float> distances, Rows rows, Distances first_distances,
                 Matrix<std::int64_t> first_rows, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::first_pairs(
        {distances.data(), rows.data(), rows.shape(0), rows.shape(1)},
        first_rows.shape(1), first_distances.data(), first_rows.data(), n_threads);
}

template <typename Function>
void define(nb::module_& m, Function function) {
    m.def("vector_distances", function, "queries"_a.noconvert(),
          "vectors"_a.noconvert(), "rows"_a.noconvert(), "metric"_a,
          "distances"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void bind_rerank(nb::module_& m) {
    define(m, &vector_distances<float>);
    define(m, &vector_distances<double>);
    define(m, &half_distances);
    m.def("int8_distances", &int8_distances, "queries"_a.noconvert(),
          "values"_a.noconvert(), "blocks"_a.noconvert(), "rows"_a.noconvert(), "metric"_a, "distances"_a.noconvert(), "n_threads"_a);
    m.def("first_pairs", &first_pairs, "distances"_a.noconvert(), "rows"_a.noconvert(),
          "first_distances"_a.noconvert(), "first_rows"_a.noconvert(), "n_threads"_a);
}
