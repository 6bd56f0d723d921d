// SPDX-License-Identifier: MIT
//
// tasks_boost.cc FILE.pb.gz: fibers of Boost.Context, whose waits are in the profiles.
//
// The class `task` is the adapter: it owns a boost::context::fiber, knows the fiber's stack since
// it has allocated it, and tells the library before each switch. A runtime above Boost.Context
// (Boost.Fiber's schedulers, too) makes the four calls where it makes its own.
//
//   c++ -std=c++17 tasks_boost.cc -lpprof -lboost_context -o tasks && ./tasks /tmp/tasks.pb.gz
#include <pprof_task.h>

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ctx = boost::context;

// ---- the adapter ----

class task
{
  public:
    task(std::function<void(task &)> body, const char *name) : body_(std::move(body))
    {
        ctx::fixedsize_stack allocator(stack_bytes);
        ctx::stack_context stack = allocator.allocate();
        pprof_task_options options = {};
        options.size = sizeof options;
        options.stack = static_cast<char *>(stack.sp) - stack.size;
        options.stack_size = stack.size;
        options.name = name;
        options.created_at = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
        pprof_task_begin(&told_, &options);
        fiber_ = ctx::fiber(std::allocator_arg, ctx::preallocated(stack.sp, stack.size, stack),
                            allocator, [this](ctx::fiber &&caller) {
                                caller_ = std::move(caller);
                                body_(*this);
                                pprof_task_end(&told_); // Boost frees the stack after this
                                return std::move(caller_);
                            });
    }

    // The stack of a fiber that waits is unwound and freed by the fiber's destructor, after this.
    ~task()
    {
        pprof_task_end(&told_);
    }

    task(const task &) = delete;
    task &operator=(const task &) = delete;

    // Runs the fiber until it waits, or is done.
    void resume()
    {
        pprof_task_resume(&told_);
        fiber_ = std::move(fiber_).resume();
    }

    // Called by the fiber itself: waits for `what`.
    void wait(const char *what)
    {
        pprof_task_suspend(&told_, what);
        caller_ = std::move(caller_).resume();
    }

  private:
    static constexpr std::size_t stack_bytes = 64 * 1024;
    pprof_task told_;
    std::function<void(task &)> body_;
    ctx::fiber caller_;
    ctx::fiber fiber_;
};

// ---- a program that uses it ----

static void read_request(task &self)
{
    self.wait("request");
}

static void query_database(task &self)
{
    self.wait("database");
}

static void serve(task &self)
{
    for (;;) {
        read_request(self);
        query_database(self);
    }
}

int main(int argc, char **argv)
{
    constexpr int sessions = 100;
    constexpr int orders_every = 4;
    if (argc != 2) {
        std::fprintf(stderr, "usage: tasks_boost FILE.pb.gz\n");
        return 2;
    }
    std::vector<std::unique_ptr<task>> all;
    for (int i = 0; i < sessions; i++) {
        all.push_back(std::make_unique<task>(serve, "session"));
        all.back()->resume(); // waits for a request
        if (i % orders_every == 0) {
            all.back()->resume(); // which is there
        }
    }
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = pprof_profile_write(pprof_lookup("thread"), pprof_writer_fd(fd), 0);
    if (fd < 0 || close(fd) != 0 || error != 0) {
        std::fprintf(stderr, "tasks_boost: %s could not be written: %s\n", argv[1],
                     std::strerror(-error));
        return 1;
    }
    std::printf("%zu tasks wait; to see where:\n    go tool pprof -top -cum %s\n",
                pprof_task_count(), argv[1]);
    all.clear();
    return pprof_task_count() == 0 ? 0 : 1;
}
