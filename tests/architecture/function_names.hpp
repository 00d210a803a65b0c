#pragma once

#include <string>
#include <vector>

#include "tests/architecture/source_rules.hpp"

namespace architecture {

/// A function as it stands at the left margin of a file.
struct Function {
  std::string name;
  std::string parameters;  ///< their types alone, without spaces and namespaces
  int line = 0;
  bool anonymous = false;  ///< between `namespace {` and its end
};

/// Members and what templates add to names are not looked at.
std::vector<Function> functions_of(const SourceFile& file);

/// Files are compiled several at a time. In such a unit an anonymous function is found before one
/// that a header declares, and is called in its place wherever the same arguments fit.
std::vector<Violation> anonymous_functions_hide_none(const Tree& tree);

}  // namespace architecture
