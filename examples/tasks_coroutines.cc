// SPDX-License-Identifier: MIT
//
// tasks_coroutines.cc FILE.pb.gz: C++20 coroutines, whose waits are in the profiles.
//
// Such a coroutine has no stack, only a frame on the heap, and a frame does not say who awaits it.
// So the promises cooperate: each has a pprof_task_frame, which says where its coroutine goes on,
// and which frame goes on after it. The chain from the innermost one is the stack that the profile
// shows.
//
//   main --spawn--> serve ..co_await..> handle ..co_await..> request
//                   frame <------------ frame <------------- pprof_task_suspend_in()
//
//   c++ -std=c++20 tasks_coroutines.cc -lpprof -o tasks && ./tasks /tmp/tasks.pb.gz
#include <pprof_task.h>

#include <coroutine>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <utility>
#include <vector>

// ---- the runtime ----

// The address in the coroutine at which it goes on: where the call of await_suspend() returns to.
#define GOES_ON_AT reinterpret_cast<uintptr_t>(__builtin_return_address(0))

// A coroutine that is awaited, or spawned. It begins when that is done.
class async
{
  public:
    struct promise_type {
        pprof_task_frame frame = {nullptr, 0};
        pprof_task *task = nullptr; // the one that it is a part of
        std::coroutine_handle<> awaits_this;

        async get_return_object()
        {
            return async(handle::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept
        {
            return {};
        }
        struct back {
            bool await_ready() noexcept
            {
                return false;
            }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept
            {
                std::coroutine_handle<> next = done.promise().awaits_this;
                return next ? next : std::noop_coroutine();
            }
            void await_resume() noexcept
            {
            }
        };
        back final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };
    using handle = std::coroutine_handle<promise_type>;

    explicit async(handle coroutine) : coroutine_(coroutine)
    {
    }
    async(async &&other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr))
    {
    }
    async(const async &) = delete;
    ~async()
    {
        if (coroutine_) {
            coroutine_.destroy();
        }
    }

    bool await_ready() const noexcept
    {
        return false;
    }
    // Not inlined, so that it is called by the coroutine.
    __attribute__((noinline)) std::coroutine_handle<> await_suspend(handle caller)
    {
        promise_type &mine = coroutine_.promise();
        caller.promise().frame.pc = GOES_ON_AT;
        mine.frame.caller = &caller.promise().frame;
        mine.task = caller.promise().task;
        mine.awaits_this = caller;
        return coroutine_;
    }
    void await_resume() const noexcept
    {
    }

  private:
    friend class spawned;
    handle coroutine_;
};

// A coroutine that runs on its own, with all that it awaits: a task.
class spawned
{
  public:
    spawned(async &&coroutine, const char *name) : coroutine_(std::move(coroutine))
    {
        pprof_task_options options = {};
        options.size = sizeof options;
        options.name = name;
        options.created_at = GOES_ON_AT;
        pprof_task_begin(&task_, &options);
        coroutine_.coroutine_.promise().task = &task_;
        pprof_task_resume(&task_);
        coroutine_.coroutine_.resume();
    }
    ~spawned()
    {
        pprof_task_end(&task_); // before the frames are destroyed
    }
    spawned(const spawned &) = delete;
    spawned &operator=(const spawned &) = delete;

  private:
    pprof_task task_;
    async coroutine_;
};

// What coroutines wait for. One waits at a time.
class event
{
  public:
    explicit event(const char *what) : what_(what)
    {
    }
    bool await_ready() const noexcept
    {
        return false;
    }
    __attribute__((noinline)) void await_suspend(async::handle waiter)
    {
        waiter_ = waiter;
        waiter.promise().frame.pc = GOES_ON_AT;
        pprof_task_suspend_in(waiter.promise().task, &waiter.promise().frame, what_);
    }
    void await_resume() const noexcept
    {
    }
    void happen()
    {
        async::handle waiter = std::exchange(waiter_, nullptr);
        pprof_task_resume(waiter.promise().task);
        waiter.resume();
    }

  private:
    const char *what_;
    async::handle waiter_;
};

// ---- a program that uses it ----

struct session {
    event request{"request"};
    event database{"database"};
    std::unique_ptr<spawned> task;
};

static async query(session &s)
{
    co_await s.database;
}

static async handle_request(session &s)
{
    co_await query(s);
}

static async serve(session &s)
{
    for (;;) {
        co_await s.request;
        co_await handle_request(s);
    }
}

int main(int argc, char **argv)
{
    constexpr int orders_every = 4;
    std::vector<session> sessions(100);
    if (argc != 2) {
        std::fprintf(stderr, "usage: tasks_coroutines FILE.pb.gz\n");
        return 2;
    }
    for (std::size_t i = 0; i < sessions.size(); i++) {
        sessions[i].task = std::make_unique<spawned>(serve(sessions[i]), "session");
        if (i % orders_every == 0) {
            sessions[i].request.happen();
        }
    }
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = pprof_profile_write(pprof_lookup("thread"), pprof_writer_fd(fd), 0);
    if (fd < 0 || close(fd) != 0 || error != 0) {
        std::fprintf(stderr, "tasks_coroutines: %s could not be written: %s\n", argv[1],
                     std::strerror(-error));
        return 1;
    }
    std::printf("%zu tasks wait; to see where:\n    go tool pprof -top -cum %s\n",
                pprof_task_count(), argv[1]);
    sessions.clear();
    return pprof_task_count() == 0 ? 0 : 1;
}
