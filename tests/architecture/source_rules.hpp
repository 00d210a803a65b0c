#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace architecture {

/// One text file of the tree, input of the rules.
struct SourceFile {
  std::string path;                ///< relative to the root, with '/'
  std::vector<std::string> lines;  ///< without line ends
};

/// A place that violates a rule. `line` counts from 1; 0 means the whole file.
struct Violation {
  std::string path;
  int line = 0;
  std::string reason;
};

using Tree = std::vector<SourceFile>;

/// A rule of ARCHITECTURE or STYLE that can be checked in the sources.
struct Rule {
  std::string name;
  std::function<std::vector<Violation>(const Tree&)> check;
};

/// Reads the C, C++, schema, CMake and config files below `root`, except build and hidden folders.
Tree read_tree(const std::filesystem::path& root);

/// All rules, each checked by one test and shown to fail by another.
const std::vector<Rule>& source_rules();

/// "path:line: reason", one line each.
std::string describe(const std::vector<Violation>& violations);

}  // namespace architecture
