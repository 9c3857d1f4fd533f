#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "fewbits/isa.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

std::vector<std::string> isas() {
    std::vector<std::string> names;
    for (const auto isa : fewbits::available_isas())
        names.emplace_back(fewbits::isa_name(isa));
    return names;
}

bool force_isa(const std::string& name) {
    for (const auto isa : fewbits::available_isas())
        if (name == fewbits::isa_name(isa)) return fewbits::force_isa(isa);
    return false;
}

}  // namespace

NB_MODULE(_native, m) {
    // Encoders that live until the interpreter ends are no fault of their users.
    nb::set_leak_warnings(false);
    m.doc() = "Compiled kernels of fewbits. Private: call fewbits.codes instead.";
    m.def("isas", &isas);
    m.def("active_isa", [] { return fewbits::isa_name(fewbits::active_isa()); });
    m.def("force_isa", &force_isa, "name"_a);
    bind_hamming(m);
    bind_encode(m);
    bind_rerank(m);
    bind_checksum(m);
    bind_multi_index(m);
}
