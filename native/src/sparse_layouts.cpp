#include "sparse_layouts.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace fewbits {
namespace {

std::size_t length(const SparseAffine& map, std::size_t output) {
    return static_cast<std::size_t>(map.indptr[output + 1] - map.indptr[output]);
}

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// A block of outputs, the shortest first; those beyond the last output have no
/// weights.
struct Sorted {
    std::array<std::size_t, WovenWeights::block> length{};
    std::array<std::uint8_t, WovenWeights::block> order;

    Sorted(const SparseAffine& map, std::size_t first) {
        const std::size_t n = std::min(WovenWeights::block, map.n_bits - first);
        for (std::size_t i = 0; i < n; ++i)
            length[i] = fewbits::length(map, first + i);
        std::iota(order.begin(), order.end(), std::uint8_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](auto a, auto b) { return length[a] < length[b]; });
    }

    /// How many steps a group of lanes takes: as many as its longest output.
    std::size_t steps(std::size_t group) const {
        return length[order[(group + 1) * WovenWeights::lanes - 1]];
    }
};

/// One block of a `BatchPlan` while it is built.
class PlannedBlock {
public:
    PlannedBlock(const SparseAffine& map, std::size_t first, BatchPlan& plan)
        : map_(map),
          first_(first),
          n_(std::min(BatchPlan::block, map.n_bits - first)),
          plan_(plan),
          ends_(n_ * (plan.chunks + 1)) {}

    void build() {
        find_ends();
        auto start = static_cast<std::size_t>(map_.indptr[first_]);
        const std::size_t block = first_ / BatchPlan::block;
        for (std::size_t chunk = 0; chunk < plan_.chunks; ++chunk) {
            std::uint16_t* sorted = &plan_.outputs[first_ * plan_.chunks + chunk * n_];
            const std::size_t place = block * plan_.chunks + chunk;
            start = sort_chunk(chunk, start, sorted,
                               &plan_.sizes[place * (BatchPlan::chunk + 1)]);
        }
        copy_weights();
    }

private:
    const SparseAffine& map_;
    const std::size_t first_, n_;
    BatchPlan& plan_;
    std::vector<std::int32_t> ends_;  // (n, 1 + chunks)

    std::int32_t* ends(std::size_t j) { return &ends_[j * (plan_.chunks + 1)]; }

    /// ends(j)[c + 1]: how many weights of output `first + j` lie in chunks 0 to c.
    void find_ends() {
        for (std::size_t j = 0; j < n_; ++j) {
            std::int32_t* end = ends(j);
            const std::int32_t* indices = map_.indices + map_.indptr[first_ + j];
            const auto n = static_cast<std::int32_t>(length(map_, first_ + j));
            for (std::int32_t i = 0; i < n; ++i)
                end[1 + static_cast<std::size_t>(indices[i]) / BatchPlan::chunk] =
                    i + 1;
            for (std::size_t c = 1; c <= plan_.chunks; ++c)
                end[c] = std::max(end[c], end[c - 1]);
        }
    }

    /// Order the outputs by their number of weights in one chunk. Weights go to
    /// position `start` on; ends(j)[chunk] becomes what to add to a weight's number
    /// within its output to get its position.
    std::size_t sort_chunk(std::size_t chunk, std::size_t start, std::uint16_t* sorted,
                           std::uint16_t* sizes) {
        std::size_t rank[BatchPlan::chunk + 1], place[BatchPlan::chunk + 1];
        for (std::size_t j = 0; j < n_; ++j) {
            const std::int32_t* end = ends(j) + chunk;
            ++sizes[end[1] - end[0]];
        }
        std::size_t outputs_before = 0;
        for (std::size_t count = 0; count <= BatchPlan::chunk; ++count) {
            rank[count] = outputs_before;
            place[count] = start;
            outputs_before += sizes[count];
            start += sizes[count] * count;
        }
        for (std::size_t j = 0; j < n_; ++j) {
            std::int32_t* end = ends(j) + chunk;
            const std::int32_t before = end[0];
            const auto count = static_cast<std::size_t>(end[1] - before);
            sorted[rank[count]++] = static_cast<std::uint16_t>(j);
            end[0] = static_cast<std::int32_t>(place[count]) - before;
            place[count] += count;
        }
        return start;
    }

    void copy_weights() {
        for (std::size_t j = 0; j < n_; ++j) {
            const std::int64_t start = map_.indptr[first_ + j];
            const auto n = static_cast<std::int64_t>(length(map_, first_ + j));
            for (std::int64_t i = 0; i < n; ++i) {
                const auto index = static_cast<std::size_t>(map_.indices[start + i]);
                const std::size_t chunk = index / BatchPlan::chunk;
                const auto to = static_cast<std::size_t>(ends(j)[chunk] + i);
                plan_.columns[to] = static_cast<std::uint16_t>(index % BatchPlan::chunk);
                plan_.values[to] = map_.values[start + i];
            }
        }
    }
};

}  // namespace

bool WovenWeights::fits(const SparseAffine& map, std::size_t n_features) {
    std::size_t total = 0;
    for (std::size_t first = 0; first < map.n_bits; first += block) {
        const Sorted sorted(map, first);
        for (std::size_t g = 0; g < groups; ++g) total += lanes * sorted.steps(g);
    }
    const auto weights = static_cast<std::size_t>(map.indptr[map.n_bits]);
    return n_features <= UINT16_MAX && total <= 2 * weights;
}

WovenWeights::WovenWeights(const SparseAffine& map, std::size_t n_features)
    : steps{0} {
    for (std::size_t first = 0; first < map.n_bits; first += block) {
        const Sorted sorted(map, first);
        outputs.insert(outputs.end(), sorted.order.begin(), sorted.order.end());
        for (std::size_t g = 0; g < groups; ++g)
            steps.push_back(steps.back() + sorted.steps(g));
    }
    columns.assign(steps.back() * lanes, static_cast<std::uint16_t>(n_features));
    values.assign(steps.back() * lanes, -0.0F);
    bias.assign(outputs.size(), 0.0F);
    for (std::size_t place = 0; place < outputs.size(); ++place) {
        const std::size_t output = place / block * block + outputs[place];
        if (output >= map.n_bits) continue;
        bias[place] = map.bias[output];
        const auto start = static_cast<std::size_t>(map.indptr[output]);
        std::size_t to = steps[place / lanes] * lanes + place % lanes;
        for (std::size_t i = 0; i < length(map, output); ++i, to += lanes) {
            columns[to] = static_cast<std::uint16_t>(map.indices[start + i]);
            values[to] = map.values[start + i];
        }
    }
}

bool BatchPlan::fits(const SparseAffine& map) {
    return map.indptr[map.n_bits] <= INT32_MAX;
}

BatchPlan::BatchPlan(const SparseAffine& map, std::size_t n_features)
    : chunks(ceil_div(n_features, chunk)) {
    const auto weights = static_cast<std::size_t>(map.indptr[map.n_bits]);
    values.resize(weights);
    columns.resize(weights);
    outputs.resize(map.n_bits * chunks);
    sizes.resize(ceil_div(map.n_bits, block) * chunks * (chunk + 1));
    for (std::size_t first = 0; first < map.n_bits; first += block)
        PlannedBlock(map, first, *this).build();
}

SparseMap::SparseMap(const SparseAffine& affine, std::size_t features)
    : csr(affine), n_features(features), layouts(std::make_unique<SparseLayouts>()) {}

SparseMap::~SparseMap() = default;

const WovenWeights* woven_weights(const SparseMap& map) {
    auto& woven = map.layouts->woven;
    std::call_once(map.layouts->woven_once, [&] {
        if (WovenWeights::fits(map.csr, map.n_features))
            woven.emplace(map.csr, map.n_features);
    });
    return woven ? &*woven : nullptr;
}

const BatchPlan* batch_plan(const SparseMap& map) {
    auto& plan = map.layouts->plan;
    std::call_once(map.layouts->plan_once, [&] {
        if (BatchPlan::fits(map.csr)) plan.emplace(map.csr, map.n_features);
    });
    return plan ? &*plan : nullptr;
}

}  // namespace fewbits
