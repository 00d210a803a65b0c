#pragma once

#include <string>
#include <vector>

#include "tests/architecture/source_rules.hpp"

namespace architecture {

/// A function declared or defined at the left margin of a file.
struct Function {
  std::string name;
  std::string parameters;  ///< only their types, without spaces and namespaces
  int line = 0;
  bool anonymous = false;  ///< between `namespace {` and its end
};

/// Members and template arguments are ignored.
std::vector<Function> functions_of(const SourceFile& file);

/// Several files are compiled as one unit. There an anonymous function is found before one that a
/// header declares, and is called in its place wherever the same arguments fit.
std::vector<Violation> anonymous_functions_hide_none(const Tree& tree);

}  // namespace architecture
