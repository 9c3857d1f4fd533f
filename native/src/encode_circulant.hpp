#pragma once

#include "encode_bits.hpp"

// Circulant matrices by transforms of complex numbers, one row at a time, real and
// imaginary parts apart. Each node of the tree of factors has one root for all of its
// numbers, so that registers hold neighbours and nothing is reordered. As in Hadamard
// transforms, a part is finished before the next, in the cache.

namespace fewbits {
namespace {

template <typename V>
struct Complex {
    typename V::Reg re, im;

    static Complex load(const float* re, const float* im) {
        return {V::load(re), V::load(im)};
    }
    static Complex broadcast(const float* re, const float* im) {
        return {V::broadcast(re), V::broadcast(im)};
    }
    Complex operator+(Complex other) const {
        return {V::add(re, other.re), V::add(im, other.im)};
    }
    Complex operator-(Complex other) const {
        return {V::subtract(re, other.re), V::subtract(im, other.im)};
    }
    Complex operator*(Complex x) const {
        return {V::subtract(V::multiply(re, x.re), V::multiply(im, x.im)),
                V::add(V::multiply(re, x.im), V::multiply(im, x.re))};
    }
    /// The product of the conjugate of this and `x`.
    Complex back(Complex x) const {
        return {V::add(V::multiply(re, x.re), V::multiply(im, x.im)),
                V::subtract(V::multiply(re, x.im), V::multiply(im, x.re))};
    }
    template <std::size_t Stride>
    Complex swapped() const {
        return {V::template swapped<Stride>(re), V::template swapped<Stride>(im)};
    }
    template <std::size_t Stride>
    Complex merged(Complex high) const {
        return {V::template merged<Stride>(re, high.re),
                V::template merged<Stride>(im, high.im)};
    }
};

/// Complex numbers in memory.
template <typename Float>
struct PartsOf {
    Float *re, *im;

    PartsOf operator+(std::size_t i) const { return {re + i, im + i}; }
};
using Parts = PartsOf<float>;
using Spectrum = PartsOf<const float>;

/// The roots of all nodes.
struct Roots {
    const float *re, *im;

    template <typename V>
    Complex<V> at(std::size_t node) const {
        return Complex<V>::broadcast(re + node, im + node);
    }
    /// Those of as many neighbouring nodes as have `2 * Stride` lanes each.
    template <typename V, std::size_t Stride>
    Complex<V> across(std::size_t node) const {
        return {V::template spread<Stride>(re + node),
                V::template spread<Stride>(im + node)};
    }
};

template <typename V, typename Float>
Complex<V> load(PartsOf<Float> z) {
    return Complex<V>::load(z.re, z.im);
}

template <typename V>
void store(Parts z, Complex<V> x) {
    V::store(z.re, x.re);
    V::store(z.im, x.im);
}

/// The stages within a register, from stride `Stride` down; `node` is the first of
/// those of that stride.
template <typename V, std::size_t Stride>
[[gnu::always_inline]] inline Complex<V> lanes_forward(const Roots& roots, std::size_t node, Complex<V> x) {
    if constexpr (Stride == 0) {
        return x;
    } else {
        const auto other = x.template swapped<Stride>();
        const auto low = x.template merged<Stride>(other);
        const auto product = roots.across<V, Stride>(node) *
                             other.template merged<Stride>(x);
        const auto next = (low + product).template merged<Stride>(low - product);
        return lanes_forward<V, Stride / 2>(roots, 2 * node, next);
    }
}

/// The same back, from stride 1 up to `Stride`.
template <typename V, std::size_t Stride>
[[gnu::always_inline]] inline Complex<V> lanes_back(const Roots& roots, std::size_t node, Complex<V> x) {
    if constexpr (Stride == 0) {
        return x;
    } else {
        x = lanes_back<V, Stride / 2>(roots, 2 * node, x);
        const auto other = x.template swapped<Stride>();
        const auto product = roots.across<V, Stride>(node).back(other - x);
        return (x + other).template merged<Stride>(product);
    }
}

/// The roots of the first stages of `node`, `Count / 2` of them in the last: from 1 on.
template <typename V, std::size_t Count>
struct Nodes {
    Complex<V> root[Count];

    [[gnu::always_inline]] Nodes(const Roots& roots, std::size_t node) {
#pragma GCC unroll 4
        for (std::size_t k = 1; k < Count; ++k)
            root[k] = roots.at<V>(k == 1 ? node : 2 * node + k - 2);
    }
};

/// The first stages of a node, across `Count` registers.
template <typename V, std::size_t Count>
[[gnu::always_inline]] inline void split(const Nodes<V, Count>& nodes, Complex<V>* x) {
#pragma GCC unroll 2
    for (std::size_t half = Count / 2, first = 1; half > 0; half /= 2, first *= 2)
#pragma GCC unroll 4
        for (std::size_t i = 0; i < Count; ++i) {
            if (i & half) continue;
            const auto p = nodes.root[first + i / (2 * half)] * x[i + half];
            x[i + half] = x[i] - p;
            x[i] = x[i] + p;
        }
}

/// The same back.
template <typename V, std::size_t Count>
[[gnu::always_inline]] inline void join(const Nodes<V, Count>& nodes, Complex<V>* x) {
#pragma GCC unroll 2
    for (std::size_t half = 1, first = Count / 2; first > 0; half *= 2, first /= 2)
#pragma GCC unroll 4
        for (std::size_t i = 0; i < Count; ++i) {
            if (i & half) continue;
            const auto difference = x[i] - x[i + half];
            x[i] = x[i] + x[i + half];
            x[i + half] = nodes.root[first + i / (2 * half)].back(difference);
        }
}

/// Transform the numbers of `node`, which fill `Count` registers.
template <typename V, std::size_t Count>
void forward_near(const Roots& roots, std::size_t node, Parts z) {
    Complex<V> x[Count];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Count; ++i) x[i] = load<V>(z + i * V::lanes);
    split<V, Count>({roots, node}, x);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Count; ++i)
        store<V>(z + i * V::lanes,
                 lanes_forward<V, V::lanes / 2>(roots, Count * node + i, x[i]));
}

/// Multiply them by their spectrum and transform them back.
template <typename V, std::size_t Count>
void back_near(const Roots& roots, std::size_t node, Parts z, Spectrum spectrum,
               Parts to) {
    Complex<V> x[Count];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Count; ++i) {
        const std::size_t at = i * V::lanes;
        const auto product = load<V>(spectrum + at) * load<V>(z + at);
        x[i] = lanes_back<V, V::lanes / 2>(roots, Count * node + i, product);
    }
    join<V, Count>({roots, node}, x);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Count; ++i) store<V>(to + i * V::lanes, x[i]);
}

/// Transform the `size` numbers of `node`, two stages at a time.
template <typename V>
void forward(const Roots& roots, std::size_t node, Parts z, std::size_t size) {
    switch (size / V::lanes) {
        case 1: return forward_near<V, 1>(roots, node, z);
        case 2: return forward_near<V, 2>(roots, node, z);
        case 4: return forward_near<V, 4>(roots, node, z);
        default: break;
    }
    const Nodes<V, 4> nodes(roots, node);
    const std::size_t gap = size / 4;
    for (std::size_t k = 0; k < gap; k += V::lanes) {
        Complex<V> x[4];
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) x[i] = load<V>(z + k + i * gap);
        split<V, 4>(nodes, x);
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) store<V>(z + k + i * gap, x[i]);
    }
    for (std::size_t i = 0; i < 4; ++i)
        forward<V>(roots, 4 * node + i, z + i * gap, gap);
}

/// Multiply the `size` numbers of `node` by their spectrum and transform them back.
template <typename V>
void back(const Roots& roots, std::size_t node, Parts z, Spectrum spectrum, Parts to,
          std::size_t size) {
    switch (size / V::lanes) {
        case 1: return back_near<V, 1>(roots, node, z, spectrum, to);
        case 2: return back_near<V, 2>(roots, node, z, spectrum, to);
        case 4: return back_near<V, 4>(roots, node, z, spectrum, to);
        default: break;
    }
    const std::size_t gap = size / 4;
    for (std::size_t i = 0; i < 4; ++i)
        back<V>(roots, 4 * node + i, z + i * gap, spectrum + i * gap, to + i * gap, gap);
    const Nodes<V, 4> nodes(roots, node);
    for (std::size_t k = 0; k < gap; k += V::lanes) {
        Complex<V> x[4];
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) x[i] = load<V>(to + k + i * gap);
        join<V, 4>(nodes, x);
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) store<V>(to + k + i * gap, x[i]);
    }
}

template <typename V>
std::size_t circulant_scratch(const CirculantJob& job) {
    return 4 * job.map.size + job.map.n_bits;
}

template <typename V>
void circulant_share(const CirculantJob& job, float* scratch) {
    const auto& map = job.map;
    const std::size_t d = job.x.n_features, size = map.size;
    const Roots roots{map.roots, map.roots + size};
    const Parts z{scratch, scratch + size};
    const Parts y{scratch + 2 * size, scratch + 3 * size};
    float* const outputs = scratch + 4 * size;
    for (std::size_t row = 0; row < job.x.n; ++row) {
        const float* x = job.x.data + row * d;
        std::memset(z.re, 0, 2 * size * sizeof(float));
        for (std::size_t i = 0; i < d; ++i) z.re[i] = x[i] * map.diagonal[i];
        forward<V>(roots, 1, z, size);
        Spectrum spectrum{map.spectra, map.spectra + size};
        for (std::size_t first = 0; first < map.n_bits; first += d) {
            back<V>(roots, 1, z, spectrum, y, size);
            std::memcpy(outputs + first, y.re,
                        smaller(d, map.n_bits - first) * sizeof(float));
            spectrum = spectrum + 2 * size;
        }
        put_with_bias<V>(job, row, 0, outputs, map.n_bits);
    }
}

}  // namespace
}  // namespace fewbits
