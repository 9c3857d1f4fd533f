#include "fewbits/encode.hpp"

#include "bind.hpp"
#include "fewbits/additive.hpp"
#include "fewbits/asymmetric.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Floats = Matrix<const float>;
using Scores = Matrix<float>;
using Codes = Matrix<std::uint8_t>;
using Spectra = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Rounds = nb::ndarray<const float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

fewbits::Features features(const Floats& x) {
    return {x.data(), x.shape(0), x.shape(1)};
}

fewbits::Affine affine(const Floats& weights, const Vector<const float>& bias) {
    return {weights.data(), bias.data(), bias.shape(0)};
}

/// The map and the arrays that it views.
struct SparseMap {
    Vector<const std::int64_t> indptr;
    Vector<const std::int32_t> indices;
    Vector<const float> values, bias;
    fewbits::SparseMap map;

    SparseMap(Vector<const std::int64_t> starts, Vector<const std::int32_t> columns,
              Vector<const float> weights, Vector<const float> offsets,
              std::size_t n_features)
        : indptr(starts),
          indices(columns),
          values(weights),
          bias(offsets),
          map({indptr.data(), indices.data(), values.data(), bias.data(),
               bias.shape(0)},
              n_features) {}
};

void linear_scores(Floats x, Floats weights, Vector<const float> bias, Scores scores,
                   std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::linear(features(x), affine(weights, bias), {scores.data(), nullptr, false},
                    n_threads);
}

void linear_encode(Floats x, Floats weights, Vector<const float> bias, int zero_bit,
                   Codes codes, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::linear(features(x), affine(weights, bias),
                    {nullptr, codes.data(), zero_bit != 0}, n_threads);
}

void sparse_scores(Floats x, const SparseMap& map, Scores scores,
                   std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::sparse(features(x), map.map, {scores.data(), nullptr, false}, n_threads);
}

void sparse_encode(Floats x, const SparseMap& map, int zero_bit, Codes codes,
                   std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::sparse(features(x), map.map, {nullptr, codes.data(), zero_bit != 0},
                    n_threads);
}

fewbits::HadamardMap hadamard_map(const Rounds& weights,
                                  const Vector<const float>& bias) {
    return {weights.data(),   bias.data(),      bias.shape(0),
            weights.shape(1), weights.shape(2), weights.shape(3)};
}

void hadamard_scores(Floats x, Rounds weights, Vector<const float> bias,
                     Scores scores, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::hadamard(features(x), hadamard_map(weights, bias),
                      {scores.data(), nullptr, false}, n_threads);
}

void hadamard_encode(Floats x, Rounds weights, Vector<const float> bias,
                     int zero_bit, Codes codes, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::hadamard(features(x), hadamard_map(weights, bias),
                      {nullptr, codes.data(), zero_bit != 0}, n_threads);
}

fewbits::CirculantMap circulant_map(const Vector<const float>& diagonal,
                                    const Floats& roots, const Spectra& spectra,
                                    const Vector<const float>& bias) {
    return {diagonal.data(), roots.data(),  spectra.data(),
            bias.data(),     bias.shape(0), roots.shape(1)};
}

void circulant_scores(Floats x, Vector<const float> diagonal, Floats roots,
                      Spectra spectra, Vector<const float> bias, Scores scores,
                      std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::circulant(features(x), circulant_map(diagonal, roots, spectra, bias),
                       {scores.data(), nullptr, false}, n_threads);
}

void circulant_encode(Floats x, Vector<const float> diagonal, Floats roots,
                      Spectra spectra, Vector<const float> bias, int zero_bit,
                      Codes codes, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::circulant(features(x), circulant_map(diagonal, roots, spectra, bias),
                       {nullptr, codes.data(), zero_bit != 0}, n_threads);
}

fewbits::BilinearMap bilinear_map(const Floats& left, const Floats& right,
                                  const Vector<const float>& bias) {
    return {left.data(),   right.data(),  bias.data(),    bias.shape(0),
            left.shape(0), left.shape(1), right.shape(0), right.shape(1)};
}

void bilinear_scores(Floats x, Floats left, Floats right, Vector<const float> bias,
                     Scores scores, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::bilinear(features(x), bilinear_map(left, right, bias),
                      {scores.data(), nullptr, false}, n_threads);
}

void bilinear_encode(Floats x, Floats left, Floats right, Vector<const float> bias,
                     int zero_bit, Codes codes, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::bilinear(features(x), bilinear_map(left, right, bias),
                      {nullptr, codes.data(), zero_bit != 0}, n_threads);
}

/// Of a block-diagonal map; the views live as long as the call.
fewbits::BlockMap block_map(const Vector<const std::int32_t>& features,
                            const Vector<const std::int64_t>& feature_starts,
                            const Vector<const std::int64_t>& bit_starts,
                            const Vector<const float>& weights,
                            const Vector<const float>& bias) {
    return {features.data(), feature_starts.data(), bit_starts.data(), weights.data(),
            bias.data(),     bias.shape(0),         bit_starts.shape(0) - 1};
}

void block_scores(Floats x, Vector<const std::int32_t> features,
                  Vector<const std::int64_t> feature_starts,
                  Vector<const std::int64_t> bit_starts, Vector<const float> weights,
                  Vector<const float> bias, Scores scores, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::blocks(::features(x),
                    block_map(features, feature_starts, bit_starts, weights, bias),
                    {scores.data(), nullptr, false}, n_threads);
}

void block_encode(Floats x, Vector<const std::int32_t> features,
                  Vector<const std::int64_t> feature_starts,
                  Vector<const std::int64_t> bit_starts, Vector<const float> weights,
                  Vector<const float> bias, int zero_bit, Codes codes,
                  std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::blocks(::features(x),
                    block_map(features, feature_starts, bit_starts, weights, bias),
                    {nullptr, codes.data(), zero_bit != 0}, n_threads);
}

void asymmetric_distances(Floats scores, Matrix<const std::uint8_t> database,
                          Matrix<const std::int64_t> rows, Scores distances,
                          std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::asymmetric_distances({scores.data(), rows.data(), scores.shape(0),
                                   scores.shape(1), rows.shape(1)},
                                  database.data(), distances.data(), n_threads);
}

void bit_sums(Floats weights, Matrix<const std::uint8_t> codes, Scores sums,
              std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::bit_sums({weights.data(), codes.data(), weights.shape(0), weights.shape(1),
                       codes.shape(0)},
                      sums.data(), n_threads);
}

void additive_scores(Scores scores, Scores sums, Floats gram, std::size_t n_rounds,
                     float tolerance, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::additive_scores(
        {scores.data(), sums.data(), gram.data(), scores.shape(0), scores.shape(1)},
        n_rounds, tolerance, n_threads);
}

void pair_sums(Matrix<const std::int8_t> products, Matrix<const std::uint8_t> codes,
               Vector<std::int64_t> sums, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::pair_sums(
        {products.data(), codes.data(), codes.shape(0), products.shape(0)}, sums.data(),
        n_threads);
}

}  // namespace

void bind_encode(nb::module_& m) {
    m.def("additive_scores", &additive_scores, "scores"_a.noconvert(),
          "sums"_a.noconvert(), "gram"_a.noconvert(), "n_rounds"_a, "tolerance"_a,
          "n_threads"_a);
    m.def("pair_sums", &pair_sums, "products"_a.noconvert(), "codes"_a.noconvert(),
          "sums"_a.noconvert(), "n_threads"_a);
    m.def("linear_scores", &linear_scores, "X"_a.noconvert(), "weights"_a.noconvert(),
          "bias"_a.noconvert(), "scores"_a.noconvert(), "n_threads"_a);
    m.def("linear_encode", &linear_encode, "X"_a.noconvert(), "weights"_a.noconvert(),
          "bias"_a.noconvert(), "zero_bit"_a, "codes"_a.noconvert(), "n_threads"_a);
    nb::class_<SparseMap>(m, "SparseMap")
        .def(nb::init<Vector<const std::int64_t>, Vector<const std::int32_t>,
                      Vector<const float>, Vector<const float>, std::size_t>(),
             "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
             "bias"_a.noconvert(), "n_features"_a);
    m.def("sparse_scores", &sparse_scores, "X"_a.noconvert(), "map"_a,
          "scores"_a.noconvert(), "n_threads"_a);
    m.def("sparse_encode", &sparse_encode, "X"_a.noconvert(), "map"_a, "zero_bit"_a,
          "codes"_a.noconvert(), "n_threads"_a);
    m.def("hadamard_scores", &hadamard_scores, "X"_a.noconvert(),
          "weights"_a.noconvert(), "bias"_a.noconvert(), "scores"_a.noconvert(),
          "n_threads"_a);
    m.def("hadamard_encode", &hadamard_encode, "X"_a.noconvert(),
          "weights"_a.noconvert(), "bias"_a.noconvert(), "zero_bit"_a,
          "codes"_a.noconvert(), "n_threads"_a);
    m.def("circulant_scores", &circulant_scores, "X"_a.noconvert(),
          "diagonal"_a.noconvert(), "roots"_a.noconvert(), "spectra"_a.noconvert(),
          "bias"_a.noconvert(), "scores"_a.noconvert(), "n_threads"_a);
    m.def("circulant_encode", &circulant_encode, "X"_a.noconvert(),
          "diagonal"_a.noconvert(), "roots"_a.noconvert(), "spectra"_a.noconvert(),
          "bias"_a.noconvert(), "zero_bit"_a, "codes"_a.noconvert(), "n_threads"_a);
    m.def("block_scores", &block_scores, "X"_a.noconvert(), "features"_a.noconvert(),
          "feature_starts"_a.noconvert(), "bit_starts"_a.noconvert(),
          "weights"_a.noconvert(), "bias"_a.noconvert(), "scores"_a.noconvert(),
          "n_threads"_a);
    m.def("block_encode", &block_encode, "X"_a.noconvert(), "features"_a.noconvert(),
          "feature_starts"_a.noconvert(), "bit_starts"_a.noconvert(),
          "weights"_a.noconvert(), "bias"_a.noconvert(), "zero_bit"_a,
          "codes"_a.noconvert(), "n_threads"_a);
    m.def("bilinear_scores", &bilinear_scores, "X"_a.noconvert(), "left"_a.noconvert(),
          "right"_a.noconvert(), "bias"_a.noconvert(), "scores"_a.noconvert(),
          "n_threads"_a);
    m.def("bilinear_encode", &bilinear_encode, "X"_a.noconvert(), "left"_a.noconvert(),
          "right"_a.noconvert(), "bias"_a.noconvert(), "zero_bit"_a,
          "codes"_a.noconvert(), "n_threads"_a);
    m.def("asymmetric_distances", &asymmetric_distances, "scores"_a.noconvert(),
          "database"_a.noconvert(), "rows"_a.noconvert(), "distances"_a.noconvert(),
          "n_threads"_a);
    m.def("bit_sums", &bit_sums, "weights"_a.noconvert(), "codes"_a.noconvert(),
          "sums"_a.noconvert(), "n_threads"_a);
}
