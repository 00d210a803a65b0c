#pragma once

#include <string>

namespace test_support {

/// Returns the path of the checkout from which these tests were built, without a slash at the end.
/// It is a function, so that only one file, not the command line of every test, contains the path.
std::string source_folder();

}  // namespace test_support
