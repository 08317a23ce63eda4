// What bindings of files share: paths as the system has them, and Ctrl-C in long work.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <string>

namespace ms::python {

// A path as the system has it: a str may hold bytes that the locale cannot decode.
std::string SystemPath(pybind11::handle path);
// A path of the system as a str.
pybind11::object PathObject(const std::string& path);

// Lets Ctrl-C through between two blocks of a long read or write; to be called without the GIL or
// with it. Empty on other threads than the main one, which get no signals.
std::function<void()> SignalPoll();

}  // namespace ms::python
