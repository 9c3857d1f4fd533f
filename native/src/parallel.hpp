#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace fewbits {

/// Call `work(begin, end, thread)` on up to `n_threads` contiguous shares of
/// [0, n), each a multiple of `grain` long except the last. Plain std::thread: an
/// OpenMP runtime of our own would clash with those of other libraries.
template <typename Work>
void parallel_for(std::size_t n, std::size_t grain, std::size_t n_threads,
                  const Work& work) {
    const std::size_t grains = (n + grain - 1) / grain;
    const std::size_t shares = std::max<std::size_t>(1, std::min(n_threads, grains));
    std::vector<std::exception_ptr> errors(shares);
    const auto share = [&](std::size_t t) noexcept {
        const std::size_t begin = std::min(n, grains * t / shares * grain);
        const std::size_t end = std::min(n, grains * (t + 1) / shares * grain);
        try {
            if (begin < end) work(begin, end, t);
        } catch (...) {
            errors[t] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    threads.reserve(shares - 1);
    std::size_t started = 1;
    try {
        for (; started < shares; ++started) threads.emplace_back(share, started);
    } catch (const std::system_error&) {
        // No more threads are to be had: the shares that are left are done here.
    }
    share(0);
    for (std::size_t t = started; t < shares; ++t) share(t);
    for (auto& thread : threads) thread.join();
    for (const auto& error : errors)
        if (error) std::rethrow_exception(error);
}

/// Call `work(task)` for each of `n_tasks`, in rising order of their beginnings: a thread
/// takes the next when it is done, so that one which is held up does not hold up the rest.
template <typename Work>
void parallel_tasks(std::size_t n_tasks, std::size_t n_threads, const Work& work) {
    std::atomic<std::size_t> next{0};
    parallel_for(std::min(n_tasks, n_threads), 1, n_threads,
                 [&](std::size_t, std::size_t, std::size_t) {
                     for (std::size_t task; (task = next++) < n_tasks;) work(task);
                 });
}

}  // namespace fewbits
