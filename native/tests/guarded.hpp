#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// What nothing uses now: to map memory anew takes longer than most tests do.
inline std::vector<char*> spare_memory[64];  // by the logarithm of the size

/// `n` values of T, the last of which lies right before an unreadable page.
template <typename T>
class Guarded {
public:
    explicit Guarded(std::size_t n) : n_(n) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        size_ = std::bit_ceil(std::max(n * sizeof(T), page));
        auto& spare = spares();
        if (spare.empty()) {
            void* memory = mmap(nullptr, size_ + page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            char* base = static_cast<char*>(memory);
            if (memory == MAP_FAILED || mprotect(base + size_, page, PROT_NONE)) {
                std::perror("guarded memory");
                std::exit(1);
            }
            spare.push_back(base);
        }
        base_ = spare.back();
        spare.pop_back();
        data_ = reinterpret_cast<T*>(base_ + size_) - n;
        std::fill_n(data_, n, T{77});
    }
    template <typename From>
    explicit Guarded(const std::vector<From>& values) : Guarded(values.size()) {
        for (std::size_t i = 0; i < n_; ++i) data_[i] = static_cast<T>(values[i]);
    }
    ~Guarded() { spares().push_back(base_); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    T* get() { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    std::size_t size() const { return n_; }

private:
    std::vector<char*>& spares() const { return spare_memory[std::bit_width(size_)]; }

    std::size_t n_, size_;
    char* base_;
    T* data_;
};
