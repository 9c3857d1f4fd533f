#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fewbits/hamming.hpp"

namespace fewbits {

/// At most 56 bits of the codes from `begin` on. Near codes differ there in at most
/// `flips` bits, or are found by another part where that is negative.
struct JoinPart {
    std::size_t begin, length;
    int flips;
};

/// All pairs of allowed codes within a radius: each once, by the first part in which they
/// differ in few enough bits. There must be one for each such pair. One part after the
/// other has its codes sorted by their bits, so that little memory is needed.
class PairJoin {
public:
    /// Of each pair the first position is before `before`.
    PairJoin(CodeView codes, Mask allowed, std::vector<JoinPart> parts,
             std::int32_t radius, std::size_t before, std::size_t n_threads);
    ~PairJoin();

    /// Find some more pairs, perhaps none; false at the end.
    bool advance();

    /// How many the last call has found.
    std::size_t size() const;

    /// These pairs; positions, of each the smaller first.
    void write(std::int32_t* distances, std::int64_t* pairs) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace fewbits
