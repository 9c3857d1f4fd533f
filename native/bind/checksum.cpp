#include "fewbits/checksum.hpp"

#include "bind.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

void crc32c(Vector<const std::uint8_t> data, Vector<const std::int64_t> offsets,
            Vector<std::uint32_t> sums) {
    nb::gil_scoped_release release;
    fewbits::crc32c({data.data(), offsets.data(), sums.shape(0)}, sums.data());
}

}  // namespace

void bind_checksum(nb::module_& m) {
    m.def("crc32c", &crc32c, "data"_a.noconvert(), "offsets"_a.noconvert(),
          "sums"_a.noconvert());
}
