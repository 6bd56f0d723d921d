/* SPDX-License-Identifier: MIT
 *
 * pprof.hpp: labels and values of profiles as C++ scopes. Header only, C++11 and later.
 *
 *     void serve(const request &r)
 *     {
 *         pprof::scoped_labels labels({{"tenant", r.tenant}, {"path", "/search"}});
 *         ...                                   // every sample of this thread has both labels
 *     }                                         // and here those that it had before
 *
 * Scopes are left in the order that the language gives them, by return, break or an exception, so
 * that labels are always restored. A scope belongs to the thread that made it. Nothing in here
 * throws or aborts: labels that cannot be made (pprof_labels_new()) are left out, as by pprof_do(),
 * and the program goes on.
 *
 * Use <pprof.h> for everything else; these classes only hold what its functions hand out.
 */
#ifndef PPROF_HPP
#define PPROF_HPP

#include <pprof.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

namespace pprof
{

/* A text that is only read during the call to which it is passed. */
struct text {
    const char *data;

    text(const char *characters) noexcept : data(characters)
    {
    }
    text(const std::string &characters) noexcept : data(characters.c_str())
    {
    }
};

/* {"key", "value"}; either may be a std::string. */
struct label {
    text key;
    text value;
};

static_assert(std::is_standard_layout<label>::value && sizeof(label) == 2 * sizeof(const char *),
              "a list of labels is a list of keys and values");

/*
 * A set of labels that never changes. Copies share it, and can be handed to other threads. The set
 * is empty if it was made of nothing, or could not be made.
 */
class labels
{
  public:
    labels() noexcept : set_(nullptr)
    {
    }

    labels(std::initializer_list<label> list) noexcept : labels(labels(), list)
    {
    }

    /* The labels of `parent`, and these; of two labels with the same key the later one counts. */
    labels(const labels &parent, std::initializer_list<label> list) noexcept
        : set_(pprof_labels_new(parent.set_, keys_and_values(list), list.size()))
    {
    }

    labels(const labels &other) noexcept : set_(pprof_labels_ref(other.set_))
    {
    }

    labels(labels &&other) noexcept : set_(other.set_)
    {
        other.set_ = nullptr;
    }

    labels &operator=(labels other) noexcept
    {
        std::swap(set_, other.set_);
        return *this;
    }

    ~labels()
    {
        pprof_labels_unref(set_);
    }

    /* The calling thread's present labels. */
    static labels current() noexcept
    {
        return labels(pprof_thread_labels());
    }

    /* The value of the label `key`, valid as long as the set; nullptr if there is none. */
    const char *find(const char *key) const noexcept
    {
        return pprof_label(set_, key);
    }

    /* False: the set is empty. */
    explicit operator bool() const noexcept
    {
        return set_ != nullptr;
    }

    /* For <pprof.h>; the reference stays with this object. */
    pprof_labels *get() const noexcept
    {
        return set_;
    }

  private:
    static const char *const *keys_and_values(std::initializer_list<label> list) noexcept
    {
        return static_cast<const char *const *>(static_cast<const void *>(list.begin()));
    }

    explicit labels(pprof_labels *owned) noexcept : set_(owned)
    {
    }

    pprof_labels *set_;
};

/* The calling thread has these labels as long as the object lives. */
class scoped_labels
{
  public:
    /* Adds these to the thread's labels. If that set cannot be made, the thread keeps its labels of
     * other keys. */
    explicit scoped_labels(std::initializer_list<label> more) noexcept
        : scoped_labels(added(labels::current(), more))
    {
    }

    /* Replaces the thread's labels by this set, which may have come with work of another thread. */
    explicit scoped_labels(const labels &set) noexcept : before_(pprof_set_thread_labels(set.get()))
    {
    }

    ~scoped_labels()
    {
        pprof_labels_unref(pprof_set_thread_labels(before_));
        pprof_labels_unref(before_);
    }

    scoped_labels(const scoped_labels &) = delete;
    scoped_labels &operator=(const scoped_labels &) = delete;

  private:
    static labels added(const labels &before, std::initializer_list<label> more) noexcept
    {
        labels set(before, more);
        return set ? set : others(before, more);
    }

    struct rest {
        labels set;
        std::initializer_list<label> without;
    };

    static bool has_key(std::initializer_list<label> list, const char *key) noexcept
    {
        for (const label &one : list) {
            if (one.key.data != nullptr && std::strcmp(one.key.data, key) == 0) {
                return true;
            }
        }
        return false;
    }

    static bool add_other(void *context, const char *key, const char *value) noexcept
    {
        rest *others = static_cast<rest *>(context);
        if (!has_key(others->without, key)) {
            others->set = labels(others->set, {{key, value}});
        }
        return true;
    }

    static labels others(const labels &before, std::initializer_list<label> list) noexcept
    {
        rest found{labels(), list};
        pprof_for_labels(before.get(), add_other, &found);
        return found.set;
    }

    pprof_labels *before_; /* with the reference that the thread had */
};

/* Calls function() with these labels added to what the thread has, and returns what it returns
 * [runtime/pprof.Do]. */
template <class Function>
auto with_labels(std::initializer_list<label> more, Function &&function)
    -> decltype(std::forward<Function>(function)())
{
    scoped_labels scope(more);
    return std::forward<Function>(function)();
}

/*
 * `value` is in a profile of the program's own as long as the object lives, with the stack of where
 * it was made:
 *
 *     class connection { pprof::scoped_value in_profile{connections_profile(), this}; ... };
 *
 * A value that was in there already, or a profile that takes none, is left alone: see error().
 * `skip`: as of pprof_profile_add(), 0 is the function that makes the object.
 */
class scoped_value
{
  public:
    __attribute__((always_inline))
    scoped_value(pprof_profile *profile, const void *value, int skip = 0) noexcept
        : profile_(profile), value_(value), error_(pprof_profile_add(profile, value, skip))
    {
    }

    ~scoped_value()
    {
        if (error_ == 0) {
            pprof_profile_remove(profile_, value_);
        }
    }

    scoped_value(const scoped_value &) = delete;
    scoped_value &operator=(const scoped_value &) = delete;

    /* What pprof_profile_add() returned: 0 or a negative errno. */
    int error() const noexcept
    {
        return error_;
    }

  private:
    pprof_profile *profile_;
    const void *value_;
    int error_;
};

} // namespace pprof

#endif
