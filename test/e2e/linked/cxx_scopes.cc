/* SPDX-License-Identifier: MIT
 *
 * cxx_scopes.cc: what <pprof.hpp> promises. Exit status 0 if all of it holds; else lines are
 * printed.
 */
#include <pprof.hpp>

#include "check.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

static bool has(const pprof::labels &set, const char *key, const char *value)
{
    const char *found = set.find(key);
    return value == nullptr ? found == nullptr : found != nullptr && std::strcmp(found, value) == 0;
}

static bool thread_has(const char *key, const char *value)
{
    return has(pprof::labels::current(), key, value);
}

static void scopes_add_and_restore()
{
    CHECK(!pprof::labels::current());
    {
        pprof::scoped_labels outer({{"tenant", "a"}, {"path", "/"}});
        {
            std::string path = "/search";
            pprof::scoped_labels inner({{"path", path}, {std::string("phase"), "2"}});
            CHECK(thread_has("tenant", "a"));
            CHECK(thread_has("path", "/search"));
            CHECK(thread_has("phase", "2"));
        }
        CHECK(thread_has("path", "/"));
        CHECK(thread_has("phase", nullptr));
    }
    CHECK(!pprof::labels::current());
}

static void exceptions_restore()
{
    pprof::scoped_labels outer({{"k", "outer"}});
    try {
        pprof::with_labels({{"k", "inner"}}, [] {
            CHECK(thread_has("k", "inner"));
            throw std::runtime_error("out of two scopes");
        });
        CHECK(false);
    } catch (const std::runtime_error &) {
        CHECK(thread_has("k", "outer"));
    }
}

static void functions_return_what_they_return()
{
    int number = 41;
    CHECK(pprof::with_labels({{"k", "v"}}, [&] { return ++number; }) == 42);
    int &same = pprof::with_labels({{"k", "v"}}, [&]() -> int & { return number; });
    CHECK(&same == &number);
    pprof::with_labels({}, [] { CHECK(thread_has("k", nullptr)); });
}

static void sets_are_shared()
{
    pprof::labels set({{"b", "1"}, {"a", "1"}, {"b", "2"}});
    pprof::labels copy(set);
    pprof::labels more(set, {{"c", "3"}});
    CHECK(copy.get() == set.get());
    CHECK(has(set, "b", "2"));
    CHECK(has(more, "a", "1") && has(more, "c", "3") && has(set, "c", nullptr));
    pprof::labels moved(std::move(copy));
    CHECK(moved.get() == set.get());
    more = moved;
    CHECK(more.get() == set.get());
    CHECK(!pprof::labels());
    std::thread worker([set] {
        pprof::scoped_labels scope(set);
        CHECK(thread_has("b", "2"));
    });
    worker.join();
}

/* An empty key is refused; what the thread has under other keys stays. */
static void what_cannot_be_made_is_left_out()
{
    pprof::scoped_labels outer({{"j", "u"}, {"k", "v"}, {"l", "w"}});
    CHECK(!pprof::labels({{"", "no key"}}));
    CHECK(pprof::with_labels({{"", "no key"}}, [] { return thread_has("k", "v"); }));
    pprof::with_labels({{"k", "its own"}, {"", "no key"}}, [] {
        CHECK(thread_has("j", "u"));
        CHECK(thread_has("k", nullptr));
        CHECK(thread_has("l", "w"));
    });
    CHECK(thread_has("k", "v"));
}

static void values_are_there_as_long_as_their_scope()
{
    pprof_profile *profile = pprof_new_profile("cxx.scopes");
    int value = 0;
    {
        pprof::scoped_value first(profile, &value);
        CHECK(first.error() == 0);
        CHECK(pprof_profile_count(profile) == 1);
        {
            pprof::scoped_value second(profile, &value);
            CHECK(second.error() == -EEXIST);
        }
        CHECK(pprof_profile_count(profile) == 1);
        try {
            pprof::scoped_value third(profile, &failures);
            CHECK(pprof_profile_count(profile) == 2);
            throw 1;
        } catch (int) {
            CHECK(pprof_profile_count(profile) == 1);
        }
    }
    CHECK(pprof_profile_count(profile) == 0);
    CHECK(pprof::scoped_value(pprof_lookup("heap"), &value).error() == -EPERM);
}

int main()
{
    scopes_add_and_restore();
    exceptions_restore();
    functions_return_what_they_return();
    sets_are_shared();
    what_cannot_be_made_is_left_out();
    values_are_there_as_long_as_their_scope();
    return failures != 0;
}
