#pragma once

#include <string>

namespace test_support {

/// The checkout that these tests were built from, without a slash at the end. A function, so that
/// the path is compiled into one file and not into the command line of every test.
std::string source_folder();

}  // namespace test_support
