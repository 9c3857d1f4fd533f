#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "hamming_kernels.hpp"

namespace fewbits {

/// The hits of one query in the order of their rows.
///
/// Rows are scanned in rising order and hits are kept in that order, so that a stable
/// sort by distance alone orders them by (distance, row).
class Collector {
public:
    enum class Keep { nearest, all, count };

    /// `limit` bounds the hits that `Keep::nearest` returns.
    Collector(Keep keep, std::size_t limit, std::int32_t tau, const std::uint8_t* allowed)
        : keep_(keep),
          limit_(limit),
          hits_(kRoom),
          sink_{tau,     hits_.data(), hits_.data() + hits_.size(),
                allowed, nullptr,      full,
                this} {}

    // The sink points into this object.
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    /// Leave out codes that are not nearer than `tau`.
    void lower(std::int32_t tau) { sink_.tau = std::min(sink_.tau, tau); }

    Sink take() {
        sink_.owner = this;
        return sink_;
    }
    void put(const Sink& sink) { sink_ = sink; }

    std::size_t size() const {
        return counted_ + static_cast<std::size_t>(sink_.next - hits_.data());
    }

    /// Append the hits of later rows.
    void append(const Collector& later) {
        const auto n = static_cast<std::size_t>(sink_.next - hits_.data());
        hits_.resize(n);
        hits_.insert(hits_.end(), later.hits_.data(),
                     static_cast<const Hit*>(later.sink_.next));
        point(hits_.size());
        counted_ += later.counted_;
    }

    /// Write the hits ordered by (distance, row), at most `limit`; return how many.
    std::size_t write(std::int32_t* distances, std::int64_t* rows) {
        if (keep_ == Keep::nearest && size() > limit_) select();
        const std::size_t n = size();
        std::int32_t farthest = 0;
        for (std::size_t i = 0; i < n; ++i)
            farthest = std::max(farthest, hits_[i].distance);
        std::vector<std::size_t> place(static_cast<std::size_t>(farthest) + 2, 0);
        for (std::size_t i = 0; i < n; ++i)
            ++place[static_cast<std::size_t>(hits_[i].distance) + 1];
        for (std::size_t d = 1; d < place.size(); ++d) place[d] += place[d - 1];
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t at = place[static_cast<std::size_t>(hits_[i].distance)]++;
            distances[at] = hits_[i].distance;
            rows[at] = hits_[i].row;
        }
        return n;
    }

    /// The `limit` nearest are nearer than this, as far as these hits tell.
    std::int32_t bound() {
        const bool tells = keep_ == Keep::nearest && limit_ && size() >= limit_;
        return tells ? farthest() + 1 : std::numeric_limits<std::int32_t>::max();
    }

    /// Distance of the farthest of the `limit` nearest, or -1 if there are fewer.
    std::int32_t farthest() {
        if (size() < limit_) return -1;
        select();
        return sink_.tau;
    }

private:
    static constexpr std::size_t kRoom = 256;

    static void full(Sink& sink) {
        auto& self = *static_cast<Collector*>(sink.owner);
        self.sink_ = sink;
        self.make_room();
        sink = self.sink_;
    }

    void make_room() {
        const std::size_t n = hits_.size();
        switch (keep_) {
            // Room grows with the hits, as most searches find hardly more than `limit`
            // and every thread has a collector for every query.
            case Keep::nearest:
                if (n < 2 * limit_ + kRoom)
                    grow(std::min(2 * n, 2 * limit_ + kRoom));
                else
                    select();
                break;
            case Keep::count:
                counted_ += n;
                point(0);
                break;
            case Keep::all: grow(2 * n);
        }
    }

    void grow(std::size_t room) {
        const std::size_t used = hits_.size();
        hits_.resize(room);
        point(used);
    }

    void point(std::size_t used) {
        sink_.next = hits_.data() + used;
        sink_.end = hits_.data() + hits_.size();
    }

    /// Keep the `limit` nearest, in the order of their rows. From now on a code must be
    /// nearer than the farthest of them: at equal distance the earlier row wins.
    void select() {
        const std::size_t n = size();
        std::int32_t most = 0;
        for (std::size_t i = 0; i < n; ++i) most = std::max(most, hits_[i].distance);
        std::vector<std::size_t> count(static_cast<std::size_t>(most) + 1, 0);
        for (std::size_t i = 0; i < n; ++i)
            ++count[static_cast<std::size_t>(hits_[i].distance)];
        std::size_t nearer = 0, cut = 0;
        while (nearer + count[cut] < limit_) nearer += count[cut++];
        std::size_t ties = limit_ - nearer, used = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto d = static_cast<std::size_t>(hits_[i].distance);
            if (d > cut || (d == cut && ties == 0)) continue;
            if (d == cut) --ties;
            hits_[used++] = hits_[i];
        }
        point(used);
        sink_.tau = static_cast<std::int32_t>(cut);
    }

    Keep keep_;
    std::size_t limit_;
    std::vector<Hit> hits_;
    Sink sink_;
    std::size_t counted_ = 0;
};

}  // namespace fewbits
