#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
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

// --- Includes

struct Include {
  std::string target;   // the path between the quotes or brackets
  bool quoted = false;  // "…" rather than <…>
  int line = 0;
};

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes);
bool has_extension(const SourceFile& file, std::initializer_list<std::string_view> extensions);
bool is_header(const SourceFile& file);
bool is_code(const SourceFile& file);

/// Why something violates a rule; empty if it does not.
using Reason = std::optional<std::string>;

/// Applies `reason_against` to every include of every file below one of the folders.
std::vector<Violation> check_includes(
    const Tree& tree, const std::vector<std::string>& folders,
    const std::function<Reason(const SourceFile&, const Include&)>& reason_against);

// --- Which folder may depend on which

std::vector<Violation> estimator_is_layered(const Tree& tree);
std::vector<Violation> fits_keep_apart(const Tree& tree);
std::vector<Violation> service_is_layered(const Tree& tree);
std::vector<Violation> folders_are_small(const Tree& tree);
std::vector<Violation> modules_keep_apart(const Tree& tree);

// --- Functions

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
