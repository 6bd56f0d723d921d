// SPDX-License-Identifier: MIT
//
// shapes_cxx.cc: virtual calls, exceptions, std::function, std::sort, a destructor that works while
// the stack is being unwound, static initialisation.
#include "burn.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <vector>

namespace
{

double used;

} // namespace

extern "C" void cxx_leaf()
{
    used = burn_ms(200);
}

struct Shape {
    virtual ~Shape() = default;
    virtual void draw() = 0;
};

struct Circle : Shape {
    void draw() override;
};

void Circle::draw()
{
    cxx_leaf();
}

extern "C" void virtual_caller(Shape *shape)
{
    shape->draw();
}

/* Throws and catches through three frames until 200 ms are over: time is spent in
 * the C++ runtime. */
extern "C" void thrower(int depth)
{
    if (depth == 0) {
        throw std::runtime_error("as intended");
    }
    thrower(depth - 1);
    burn_sink++;
}

extern "C" void catch_caller()
{
    struct burn b = burn_for(200);
    while (burn_on(&b)) {
        for (int i = 0; i < 50; i++) {
            try {
                thrower(3);
            } catch (const std::exception &e) {
                burn_sink += static_cast<unsigned long>(*e.what());
            }
        }
    }
    used = burn_used(&b);
}

struct WorkingDestructor {
    ~WorkingDestructor();
};

WorkingDestructor::~WorkingDestructor()
{
    cxx_leaf();
}

extern "C" void cleanup_caller()
{
    try {
        WorkingDestructor object;
        thrower(0);
    } catch (const std::exception &) {
        burn_sink++;
    }
}

extern "C" void function_caller(const std::function<void()> &function)
{
    function();
}

extern "C" void std_sort_caller()
{
    std::vector<int> values{5, 3, 9, 1, 7, 2};
    bool burnt = false;
    std::sort(values.begin(), values.end(), [&](int a, int b) {
        if (!burnt) {
            burnt = true;
            cxx_leaf();
        }
        return a < b;
    });
}

extern "C" void initialiser()
{
    cxx_leaf();
    report("initialiser", used);
}

static int initialised = (initialiser(), 1);

int main()
{
    Circle circle;
    burn_sink += static_cast<unsigned long>(initialised);
    virtual_caller(&circle);
    report("virtual_caller", used);
    catch_caller();
    report("catch_caller", used);
    cleanup_caller();
    report("cleanup_caller", used);
    function_caller(cxx_leaf);
    report("function_caller", used);
    std_sort_caller();
    report("std_sort_caller", used);
    return 0;
}
