#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// `n` values of T, the last of which lies right before an unreadable page.
template <typename T>
class Guarded {
public:
    explicit Guarded(std::size_t n) : n_(n) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t data = (n * sizeof(T) + page - 1) / page * page;
        size_ = data + page;
        void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        base_ = static_cast<char*>(memory);
        if (memory == MAP_FAILED || mprotect(base_ + data, page, PROT_NONE)) {
            std::perror("guarded memory");
            std::exit(1);
        }
        data_ = reinterpret_cast<T*>(base_ + data) - n;
        std::fill_n(data_, n, T{77});
    }
    template <typename From>
    explicit Guarded(const std::vector<From>& values) : Guarded(values.size()) {
        for (std::size_t i = 0; i < n_; ++i) data_[i] = static_cast<T>(values[i]);
    }
    ~Guarded() { munmap(base_, size_); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    T* get() { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    std::size_t size() const { return n_; }

private:
    std::size_t n_, size_;
    char* base_;
    T* data_;
};
