#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

/// Read-only or writable C-ordered matrices and vectors, never converted or copied.
template <typename T>
using Matrix = nanobind::ndarray<T, nanobind::ndim<2>, nanobind::c_contig,
                                 nanobind::device::cpu>;
template <typename T>
using Vector = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig,
                                 nanobind::device::cpu>;

void bind_hamming(nanobind::module_& m);
void bind_encode(nanobind::module_& m);
void bind_rerank(nanobind::module_& m);
void bind_checksum(nanobind::module_& m);
void bind_multi_index(nanobind::module_& m);
