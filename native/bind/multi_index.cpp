#include "fewbits/multi_index.hpp"
#include "fewbits/pair_join.hpp"

#include <optional>

#include <nanobind/stl/optional.h>

#include "bind.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Codes = Matrix<const std::uint8_t>;
using Bytes = std::optional<Vector<const std::uint8_t>>;
using Cuts = Vector<const std::int64_t>;

fewbits::CodeView view(const Codes& codes) {
    return {codes.data(), codes.shape(0), codes.shape(1)};
}

const std::uint8_t* data(const Bytes& bytes) { return bytes ? bytes->data() : nullptr; }

/// The tables keep what they point to alive.
struct Tables {
    Codes codes;
    Cuts cuts;
    Vector<const std::uint32_t> starts;
    Matrix<const std::uint32_t> rows;
    Bytes entries;

    fewbits::MultiIndex index() const {
        return {view(codes), rows.shape(0), cuts.data(), starts.data(),
                rows.data(), data(entries)};
    }
};

fewbits::Budget budget_of(std::int64_t lookup, std::int64_t candidate,
                          std::int64_t limit) {
    return {lookup, candidate, limit};
}

void build(Codes codes, Cuts cuts, Vector<std::uint32_t> starts,
           Matrix<std::uint32_t> rows, std::optional<Vector<std::uint8_t>> entries,
           std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::multi_index_build(view(codes), rows.shape(0), cuts.data(), starts.data(),
                               rows.data(), entries ? entries->data() : nullptr,
                               n_threads);
}

void topk(Codes queries, const Tables& tables, Bytes allowed, fewbits::Budget budget,
          Matrix<std::int32_t> distances, Matrix<std::int64_t> rows,
          Matrix<std::int64_t> work, Vector<std::uint8_t> done, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::multi_index_topk(view(queries), tables.index(), data(allowed),
                              rows.shape(1), budget, distances.data(), rows.data(),
                              work.data(), done.data(), n_threads);
}

void nearest(Codes queries, const Tables& tables, fewbits::Budget budget,
             Vector<std::int32_t> distances, Vector<std::int64_t> rows,
             Vector<std::int64_t> ties, Matrix<std::int64_t> work,
             Vector<std::uint8_t> done, std::size_t n_threads) {
    nb::gil_scoped_release release;
    fewbits::multi_index_nearest(view(queries), tables.index(), budget, distances.data(),
                                 rows.data(), ties.data(), work.data(), done.data(),
                                 n_threads);
}

void within(fewbits::RangeHits* self, Codes queries, const Tables& tables, Bytes allowed,
            std::int32_t radius, fewbits::Budget budget, std::size_t n_threads) {
    nb::gil_scoped_release release;
    new (self) fewbits::RangeHits(view(queries), tables.index(), data(allowed), radius,
                                  budget, n_threads);
}

void write_counts(const fewbits::RangeHits& hits, Vector<std::int64_t> counts,
            Matrix<std::int64_t> work, Vector<std::uint8_t> done) {
    hits.counts(counts.data(), work.data(), done.data());
}

void write_hits(const fewbits::RangeHits& hits, Vector<std::int32_t> distances,
           Vector<std::int64_t> rows) {
    nb::gil_scoped_release release;
    hits.write(distances.data(), rows.data());
}

/// Each part: the first bit, the number of bits, and flips.
void join(fewbits::PairJoin* self, Codes codes, Bytes allowed,
          Matrix<const std::int64_t> parts, std::int32_t radius, std::size_t before,
          std::size_t n_threads) {
    std::vector<fewbits::JoinPart> each;
    for (std::size_t j = 0; j < parts.shape(0); ++j)
        each.push_back({static_cast<std::size_t>(parts(j, 0)),
                        static_cast<std::size_t>(parts(j, 1)),
                        static_cast<int>(parts(j, 2))});
    nb::gil_scoped_release release;
    new (self) fewbits::PairJoin(view(codes), data(allowed), each, radius, before,
                                 n_threads);
}

bool advance(fewbits::PairJoin& join) {
    nb::gil_scoped_release release;
    return join.advance();
}

void write_pairs(const fewbits::PairJoin& join, Vector<std::int32_t> distances,
                 Matrix<std::int64_t> pairs) {
    nb::gil_scoped_release release;
    join.write(distances.data(), pairs.data());
}

}  // namespace

void bind_multi_index(nb::module_& m) {
    nb::class_<Tables>(m, "MultiIndexTables")
        .def(nb::init<Codes, Cuts, Vector<const std::uint32_t>,
                      Matrix<const std::uint32_t>, Bytes>(),
             "codes"_a.noconvert(), "cuts"_a.noconvert(), "starts"_a.noconvert(),
             "rows"_a.noconvert(), "entries"_a.none());
    nb::class_<fewbits::Budget>(m, "Budget")
        .def(nb::new_(&budget_of), "lookup"_a, "candidate"_a, "limit"_a);
    m.def("multi_index_build", &build, "codes"_a.noconvert(), "cuts"_a.noconvert(),
          "starts"_a.noconvert(), "rows"_a.noconvert(), "entries"_a.none(),
          "n_threads"_a);
    m.def("multi_index_topk", &topk, "queries"_a.noconvert(), "tables"_a,
          "allowed"_a.none(), "budget"_a, "distances"_a.noconvert(),
          "rows"_a.noconvert(), "work"_a.noconvert(), "done"_a.noconvert(),
          "n_threads"_a);
    m.def("multi_index_nearest", &nearest, "queries"_a.noconvert(), "tables"_a,
          "budget"_a, "distances"_a.noconvert(), "rows"_a.noconvert(),
          "ties"_a.noconvert(), "work"_a.noconvert(), "done"_a.noconvert(),
          "n_threads"_a);
    nb::class_<fewbits::RangeHits>(m, "RangeHits")
        .def("__init__", &within, "queries"_a.noconvert(), "tables"_a,
             "allowed"_a.none(), "radius"_a, "budget"_a, "n_threads"_a)
        .def("counts", &write_counts, "counts"_a.noconvert(), "work"_a.noconvert(),
             "done"_a.noconvert())
        .def("write", &write_hits, "distances"_a.noconvert(), "rows"_a.noconvert());
    // The join reads the codes until it is gone.
    nb::class_<fewbits::PairJoin>(m, "PairJoin")
        .def("__init__", &join, "codes"_a.noconvert(), "allowed"_a.none(),
             "parts"_a.noconvert(), "radius"_a, "before"_a, "n_threads"_a,
             nb::keep_alive<1, 2>())
        .def("advance", &advance)
        .def("__len__", &fewbits::PairJoin::size)
        .def("write", &write_pairs, "distances"_a.noconvert(), "pairs"_a.noconvert());
}
