#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/architecture/source_rules.hpp"

namespace architecture {

struct Include {
  std::string target;   // the path between the quotes or brackets
  bool quoted = false;  // "…" rather than <…>
  int line = 0;
};

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes);

bool has_extension(const SourceFile& file, std::initializer_list<std::string_view> extensions);

bool is_header(const SourceFile& file);

bool is_code(const SourceFile& file);

// Applies `reason_against` to every include of every file below one of the folders.
std::vector<Violation> check_includes(
    const Tree& tree, const std::vector<std::string>& folders,
    const std::function<std::optional<std::string>(const SourceFile&, const Include&)>&
        reason_against);

}  // namespace architecture
