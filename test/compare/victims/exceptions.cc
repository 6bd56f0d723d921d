// SPDX-License-Identifier: MIT
//
// exceptions.cc: C++ exceptions, to be single-stepped: libgcc's unwinder at work, and the landings.
//
//   caught at once, through frames, by a base class; rethrown; cleanups that call; through a
//   callback of libc; std::terminate is left out, it does not come back
//
// Flags: -O2 -Wl,-z,lazy

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline))

static volatile unsigned long sink;

struct Cleanup {
    explicit Cleanup(unsigned long v) : value(v)
    {
    }
    KEPT ~Cleanup()
    {
        sink = sink + value;
    }
    unsigned long value;
};

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Square : Shape {
    explicit Square(double s) : side(s)
    {
    }
    KEPT double area() const override
    {
        if (side < 0) {
            throw std::invalid_argument("a side of " + std::to_string(side));
        }
        return side * side;
    }
    double side;
};

KEPT void thrower(unsigned depth)
{
    Cleanup cleanup(depth);
    if (depth == 0) {
        throw std::runtime_error("at the bottom");
    }
    thrower(depth - 1);
    sink = sink + 1;
}

KEPT void rethrower()
{
    try {
        thrower(3);
    } catch (const std::exception &e) {
        sink = sink + std::string(e.what()).size();
        throw;
    }
}

static int compare(const void *a, const void *b)
{
    if (*static_cast<const int *>(a) == 3) {
        throw 7;
    }
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

KEPT void through_libc()
{
    int values[] = {5, 1, 3, 2};
    qsort(values, 4, sizeof *values, compare);
}

template <typename Function> KEPT void catching(Function f)
{
    try {
        Cleanup cleanup(5);
        f();
    } catch (const std::logic_error &) {
        sink = sink + 1;
    } catch (const std::exception &) {
        sink = sink + 2;
    } catch (...) {
        sink = sink + 3;
    }
}

int main()
{
    std::map<std::string, unsigned> words;
    std::vector<std::string> list = {"one", "two", "three", "two"};
    for (const auto &word : list) {
        words[word]++;
    }
    std::sort(list.begin(), list.end(), std::greater<std::string>());
    catching([] { thrower(4); });
    catching([] { rethrower(); });
    catching([] { through_libc(); });
    catching([] { sink = sink + std::stoul("no number"); });
    catching([&] { sink = sink + list.at(17).size(); });
    std::unique_ptr<Shape> shape(new Square(-1));
    catching([&] { sink = sink + static_cast<unsigned long>(shape->area()); });
    std::cout << "done " << words.size() << ' ' << list.front() << std::endl;
    return 0;
}
