// Every instruction set that runs here against the definition: one std::fma a feature.
// All arrays end at an unreadable page, so that a read or write too far is a crash.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "fewbits/asymmetric.hpp"
#include "fewbits/encode.hpp"
#include "fewbits/isa.hpp"
#include "checks.hpp"
#include "guarded.hpp"

namespace {

/// Ordinary, integer (which cancel to zero), tiny and huge numbers.
float number(Random& random, std::size_t kind) {
    const float x = std::normal_distribution<float>()(random);
    switch (kind) {
        case 0: return x;
        case 1: return std::nearbyint(x);
        case 2: return x * 1e-30F;
        case 3: return x * 3e37F;
        default: return x * std::numeric_limits<float>::denorm_min() * 100.0F;
    }
}

struct Problem {
    std::size_t n, d, b;
    std::vector<float> x, weights, bias;  // weights (d, b)
    std::vector<bool> kept;               // (b, d): weights of the sparse map
    bool zero_bit;
};

Problem problem(Random& random) {
    Problem p;
    const bool deep = between(random, 0, 7) == 0;
    const bool few = between(random, 0, 3) == 0;
    p.n = between(random, 0, few ? 2 : deep ? 20 : 130);
    p.d = deep ? between(random, 500, 1200) : between(random, 1, 150);
    p.b = between(random, 1, deep ? 80 : 300);
    const std::size_t kind = between(random, 0, 4);
    p.x.resize(p.n * p.d);
    p.weights.resize(p.d * p.b);
    p.bias.resize(p.b);
    for (float& value : p.x) value = number(random, kind);
    for (float& value : p.weights) value = number(random, kind % 3 ? 1 : 0);
    for (float& value : p.bias) value = number(random, kind);
    const std::size_t density = between(random, 0, 10);
    for (std::size_t i = 0; i < p.b * p.d; ++i)
        p.kept.push_back(between(random, 0, 9) < density);
    p.zero_bit = between(random, 0, 1) == 1;
    return p;
}

std::vector<float> scores(const Problem& p, bool sparse) {
    std::vector<float> result(p.n * p.b);
    for (std::size_t r = 0; r < p.n; ++r)
        for (std::size_t j = 0; j < p.b; ++j) {
            const float* x = p.x.data() + r * p.d;
            float total = p.bias[j];
            for (std::size_t i = 0; i < p.d; ++i)
                if (!sparse || p.kept[j * p.d + i])
                    total = std::fma(x[i], p.weights[i * p.b + j], total);
            result[r * p.b + j] = total;
        }
    return result;
}

std::vector<std::uint8_t> codes(const Problem& p, const std::vector<float>& all) {
    const std::size_t bytes = (p.b + 7) / 8;
    std::vector<std::uint8_t> result(p.n * bytes);
    for (std::size_t r = 0; r < p.n; ++r)
        for (std::size_t j = 0; j < p.b; ++j) {
            const float score = all[r * p.b + j];
            const bool bit = p.zero_bit ? score >= 0 : score > 0;
            if (bit)
                result[r * bytes + j / 8] = static_cast<std::uint8_t>(
                    result[r * bytes + j / 8] | 0x80 >> j % 8);
        }
    return result;
}

bool same(const void* a, const void* b, std::size_t bytes) {
    return bytes == 0 || !std::memcmp(a, b, bytes);
}

template <typename Run>
void check_outputs(const Problem& p, const std::vector<float>& expected,
                   const char* kind, const Run& run) {
    const auto expected_codes = codes(p, expected);
    for (std::size_t threads = 1; threads <= 3; ++threads) {
        Guarded<float> found(expected.size());
        run({found.get(), nullptr, p.zero_bit}, threads);
        check(same(found.get(), expected.data(), expected.size() * 4), kind);
        Guarded<std::uint8_t> packed(expected_codes.size());
        if (p.n) std::memset(packed.get(), 0xff, expected_codes.size());
        run({nullptr, packed.get(), p.zero_bit}, threads);
        check(same(packed.get(), expected_codes.data(), expected_codes.size()), kind);
    }
}

/// Compare a map that encodes row by row with the definition of a row's scores.
template <typename Map>
void check_rows(const Problem& p, const float* x, const Map& map, const char* kind,
                void (*row)(const float*, std::size_t, const Map&, float*),
                void (*encode)(const fewbits::Features&, const Map&,
                               const fewbits::Output&, std::size_t)) {
    std::vector<float> expected(p.n * p.b);
    for (std::size_t r = 0; r < p.n; ++r)
        row(x + r * p.d, p.d, map, expected.data() + r * p.b);
    check_outputs(p, expected, kind,
                  [&](const fewbits::Output& out, std::size_t threads) {
                      encode({x, p.n, p.d}, map, out, threads);
                  });
}

void check_linear(const Problem& p) {
    Guarded<float> x(p.x), weights(p.weights), bias(p.bias);
    check_outputs(p, scores(p, false), "linear",
                  [&](const fewbits::Output& out, std::size_t threads) {
        fewbits::linear({x.get(), p.n, p.d}, {weights.get(), bias.get(), p.b}, out,
                        threads);
    });
}

void check_sparse(const Problem& p) {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::size_t> indices;
    std::vector<float> values;
    for (std::size_t j = 0; j < p.b; ++j) {
        for (std::size_t i = 0; i < p.d; ++i)
            if (p.kept[j * p.d + i]) {
                indices.push_back(i);
                values.push_back(p.weights[i * p.b + j]);
            }
        indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
    Guarded<float> x(p.x), value(values), bias(p.bias);
    Guarded<std::int64_t> starts(indptr);
    Guarded<std::int32_t> index(indices);
    const fewbits::SparseMap map(
        {starts.get(), index.get(), value.get(), bias.get(), p.b}, p.d);
    check_outputs(p, scores(p, true), "sparse",
                  [&](const fewbits::Output& out, std::size_t threads) {
        fewbits::sparse({x.get(), p.n, p.d}, map, out, threads);
    });
}

/// Return the product of a row and a block-diagonal matrix.
std::vector<float> times_blocks(const std::vector<float>& z, const float* weights,
                                std::size_t width) {
    std::vector<float> sums(z.size());
    for (std::size_t j = 0; j < z.size(); ++j) {
        const std::size_t start = j - j % width;
        sums[j] = z[start] * weights[start * width + j % width];
        for (std::size_t i = start + 1; i < start + width; ++i)
            sums[j] = std::fma(z[i], weights[i * width + j % width], sums[j]);
    }
    return sums;
}

/// Write the score of each output of a row to `scores`, stage by stage.
void hadamard_row(const float* x, std::size_t d, const fewbits::HadamardMap& map,
                  float* scores) {
    for (std::size_t first = 0; first < map.n_bits; first += map.size) {
        std::vector<float> z(map.size);
        std::copy(x, x + d, z.begin());
        for (std::size_t round = 0; round < map.n_rounds; ++round) {
            const float* weights = map.weights +
                                   (first * map.n_rounds + round * map.size) * map.width;
            z = times_blocks(z, weights, map.width);
            for (std::size_t stride = map.size / 2; stride > 0; stride /= 2)
                for (std::size_t i = 0; i < map.size; ++i) {
                    if (i & stride) continue;
                    const float a = z[i], b = z[i + stride];
                    z[i] = a + b;
                    z[i + stride] = a - b;
                }
        }
        for (std::size_t j = first; j < std::min(first + map.size, map.n_bits); ++j)
            scores[j] = z[j - first] + map.bias[j];
    }
}

void check_hadamard(Random& random) {
    Problem p;
    const std::size_t size = std::size_t{16} << between(random, 0, 6);
    p.n = between(random, 0, 5), p.d = between(random, 1, size);
    p.b = between(random, 1, 3 * size), p.zero_bit = between(random, 0, 1) == 1;
    const std::size_t rounds = between(random, 1, 3), kind = between(random, 0, 2);
    Guarded<float> x(p.n * p.d), bias(p.b);
    const std::size_t width = between(random, 0, 1) == 1 ? 16 : 1;
    Guarded<float> weights((p.b + size - 1) / size * size * rounds * width);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = number(random, kind);
    for (std::size_t i = 0; i < p.b; ++i) bias[i] = number(random, kind);
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = between(random, 0, 1) ? 1.0F : -1.0F;
    const fewbits::HadamardMap map{weights.get(), bias.get(), p.b,
                                   rounds,        size,       width};
    check_rows(p, x.get(), map, "hadamard", hadamard_row, fewbits::hadamard);
}

/// One complex stage of a circulant's transform, there or back, of all of its nodes.
void circulant_stage(std::vector<float>& re, std::vector<float>& im, const float* roots,
                     std::size_t nodes, bool back) {
    const std::size_t size = re.size(), half = size / nodes / 2;
    for (std::size_t node = nodes; node < 2 * nodes; ++node) {
        const float wr = roots[node], wi = roots[size + node];
        const std::size_t first = (node - nodes) * 2 * half;
        for (std::size_t i = first; i < first + half; ++i) {
            const std::size_t j = i + half;
            float pr = re[j], pi = im[j];
            if (back) {
                const float dr = re[i] - pr, di = im[i] - pi;
                re[i] += pr, im[i] += pi;
                re[j] = wr * dr + wi * di, im[j] = wr * di - wi * dr;
            } else {
                pr = wr * re[j] - wi * im[j], pi = wr * im[j] + wi * re[j];
                re[j] = re[i] - pr, im[j] = im[i] - pi;
                re[i] += pr, im[i] += pi;
            }
        }
    }
}

void circulant_row(const float* x, std::size_t d, const fewbits::CirculantMap& map,
                   float* scores) {
    const std::size_t size = map.size;
    std::vector<float> re(size), im(size);
    for (std::size_t i = 0; i < d; ++i) re[i] = x[i] * map.diagonal[i];
    for (std::size_t nodes = 1; nodes < size; nodes *= 2)
        circulant_stage(re, im, map.roots, nodes, false);
    for (std::size_t first = 0; first < map.n_bits; first += d) {
        const float* spectrum = map.spectra + first / d * 2 * size;
        std::vector<float> yr(size), yi(size);
        for (std::size_t i = 0; i < size; ++i) {
            const float sr = spectrum[i], si = spectrum[size + i];
            yr[i] = sr * re[i] - si * im[i], yi[i] = sr * im[i] + si * re[i];
        }
        for (std::size_t nodes = size / 2; nodes > 0; nodes /= 2)
            circulant_stage(yr, yi, map.roots, nodes, true);
        for (std::size_t j = first; j < std::min(first + d, map.n_bits); ++j)
            scores[j] = yr[j - first] + map.bias[j];
    }
}

void check_circulant(Random& random) {
    Problem p;
    const std::size_t size = std::size_t{16} << between(random, 0, 6);
    p.n = between(random, 0, 5), p.d = between(random, 1, size);
    p.b = between(random, 1, 3 * p.d), p.zero_bit = between(random, 0, 1) == 1;
    const std::size_t kind = between(random, 0, 2);
    Guarded<float> x(p.n * p.d), bias(p.b), diagonal(p.d), roots(2 * size);
    Guarded<float> spectra((p.b + p.d - 1) / p.d * 2 * size);
    for (auto* array : {&x, &bias, &diagonal, &roots, &spectra})
        for (std::size_t i = 0; i < array->size(); ++i)
            (*array)[i] = number(random, kind);
    const fewbits::CirculantMap map{diagonal.get(), roots.get(), spectra.get(),
                                    bias.get(),     p.b,         size};
    check_rows(p, x.get(), map, "circulant", circulant_row, fewbits::circulant);
}

void bilinear_row(const float* x, std::size_t d, const fewbits::BilinearMap& map,
                  float* scores) {
    std::vector<float> half(map.d1 * map.b2);
    for (std::size_t i = 0; i < map.d1; ++i)
        for (std::size_t c = 0; c < map.b2; ++c)
            for (std::size_t k = 0; k < map.d2 && i * map.d2 + k < d; ++k)
                half[i * map.b2 + c] = std::fma(x[i * map.d2 + k],
                                                map.right[k * map.b2 + c],
                                                half[i * map.b2 + c]);
    for (std::size_t j = 0; j < map.n_bits; ++j) {
        float total = 0;
        for (std::size_t i = 0; i < map.d1; ++i)
            total = std::fma(half[i * map.b2 + j / map.b1],
                             map.left[i * map.b1 + j % map.b1], total);
        scores[j] = total + map.bias[j];
    }
}

void check_bilinear(Random& random) {
    Problem p;
    const std::size_t d1 = between(random, 1, 50), d2 = between(random, 1, 50);
    const std::size_t b1 = between(random, 1, 50), b2 = between(random, 1, 50);
    p.n = between(random, 0, 5), p.zero_bit = between(random, 0, 1) == 1;
    p.d = d1 * d2 - between(random, 0, d2 - 1), p.b = b1 * b2 - between(random, 0, b1 - 1);
    const std::size_t kind = between(random, 0, 2);
    Guarded<float> x(p.n * p.d), bias(p.b), left(d1 * b1), right(d2 * b2);
    for (auto* array : {&x, &bias, &left, &right})
        for (std::size_t i = 0; i < array->size(); ++i)
            (*array)[i] = number(random, kind);
    const fewbits::BilinearMap map{left.get(), right.get(), bias.get(), p.b,
                                   d1,         b1,          d2,         b2};
    check_rows(p, x.get(), map, "bilinear", bilinear_row, fewbits::bilinear);
}

void blocks_row(const float* x, std::size_t, const fewbits::BlockMap& map,
                float* scores) {
    const float* weights = map.weights;
    for (std::size_t b = 0; b < map.n_blocks; ++b) {
        const auto n = map.bit_starts[b + 1] - map.bit_starts[b];
        for (auto j = map.bit_starts[b]; j < map.bit_starts[b + 1]; ++j) {
            const float* weight = weights + (j - map.bit_starts[b]);
            scores[j] = map.bias[j];
            for (auto k = map.feature_starts[b]; k < map.feature_starts[b + 1]; ++k) {
                scores[j] = std::fma(x[map.features[k]], *weight, scores[j]);
                weight += n;
            }
        }
        weights += (map.feature_starts[b + 1] - map.feature_starts[b]) * n;
    }
}

void check_blocks(Random& random) {
    Problem p;
    p.n = between(random, 0, 20), p.zero_bit = between(random, 0, 1) == 1;
    p.d = between(random, 1, 40);
    const std::size_t n_blocks = between(random, 1, 4), kind = between(random, 0, 2);
    Guarded<std::int64_t> feature_starts(n_blocks + 1), bit_starts(n_blocks + 1);
    feature_starts[0] = bit_starts[0] = 0;
    std::size_t n_weights = 0;
    for (std::size_t b = 0; b < n_blocks; ++b) {
        const std::size_t depth = between(random, 1, p.d), n = between(random, 1, 90);
        feature_starts[b + 1] = feature_starts[b] + static_cast<std::int64_t>(depth);
        bit_starts[b + 1] = bit_starts[b] + static_cast<std::int64_t>(n);
        n_weights += depth * n;
    }
    p.b = static_cast<std::size_t>(bit_starts[n_blocks]);
    Guarded<std::int32_t> features(static_cast<std::size_t>(feature_starts[n_blocks]));
    for (std::size_t i = 0; i < features.size(); ++i)
        features[i] = static_cast<std::int32_t>(between(random, 0, p.d - 1));
    Guarded<float> x(p.n * p.d), bias(p.b),
        weights(n_weights + fewbits::BlockMap::beyond_weights);
    for (auto* array : {&x, &bias, &weights})
        for (std::size_t i = 0; i < array->size(); ++i)
            (*array)[i] = number(random, kind);
    const fewbits::BlockMap map{features.get(), feature_starts.get(), bit_starts.get(),
                                weights.get(),  bias.get(),           p.b,
                                n_blocks};
    check_rows(p, x.get(), map, "blocks", blocks_row, fewbits::blocks);
}

float distance(const float* score, const std::uint8_t* code, std::size_t n_bits) {
    float part[16] = {};
    for (std::size_t j = 0; j < n_bits; ++j)
        if ((score[j] > 0) != ((code[j / 8] >> (7 - j % 8) & 1) == 1))
            part[j % 16] += std::fabs(score[j]);
    for (std::size_t half = 8; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) part[i] += part[i + half];
    return part[0];
}

void check_asymmetric(Random& random) {
    const std::size_t n = between(random, 0, 4), b = between(random, 1, 300),
                      size = 20, m = between(random, 0, 9), bytes = (b + 7) / 8;
    Guarded<float> score(n * b), found(n * m);
    Guarded<std::uint8_t> database(size * bytes);
    Guarded<std::int64_t> rows(n * m);
    for (std::size_t i = 0; i < n * b; ++i) score[i] = number(random, i % 2);
    for (std::size_t i = 0; i < size * bytes; ++i)
        database[i] = static_cast<std::uint8_t>(between(random, 0, 255));
    for (std::size_t i = 0; i < n * m; ++i)
        rows[i] = static_cast<std::int64_t>(between(random, 0, size)) - 1;
    fewbits::asymmetric_distances({score.get(), rows.get(), n, b, m}, database.get(),
                                  found.get(), 2);
    for (std::size_t i = 0; i < n * m; ++i) {
        const auto row = static_cast<std::size_t>(rows[i]);
        const float expected =
            rows[i] < 0 ? std::numeric_limits<float>::infinity()
                        : distance(&score[i / m * b], &database[row * bytes], b);
        check(found[i] == expected, "asymmetric distance");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 40;
    for (const auto isa : fewbits::available_isas()) {
        fewbits::force_isa(isa);
        Random random(7);
        for (int round = 0; round < rounds; ++round) {
            const Problem p = problem(random);
            check_linear(p);
            check_sparse(p);
            check_asymmetric(random);
            check_hadamard(random);
            check_circulant(random);
            check_bilinear(random);
            check_blocks(random);
        }
        std::printf("%s: ok\n", fewbits::isa_name(isa));
    }
}
