#include "tests/architecture/includes.hpp"

#include <algorithm>
#include <regex>

namespace architecture {
namespace {

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex kPattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<Include> includes;
  for (std::size_t k = 0; k < file.lines.size(); ++k) {
    std::smatch match;
    if (std::regex_match(file.lines[k], match, kPattern)) {
      includes.push_back({match[2], match[1] == "\"", static_cast<int>(k) + 1});
    }
  }
  return includes;
}

}  // namespace

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return text.starts_with(prefix); });
}

bool has_extension(const SourceFile& file, std::initializer_list<std::string_view> extensions) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](std::string_view extension) { return file.path.ends_with(extension); });
}

bool is_header(const SourceFile& file) { return has_extension(file, {".hpp", ".h"}); }

bool is_code(const SourceFile& file) { return has_extension(file, {".cpp", ".hpp", ".c", ".h"}); }

std::vector<Violation> check_includes(
    const Tree& tree, const std::vector<std::string>& folders,
    const std::function<std::optional<std::string>(const SourceFile&, const Include&)>&
        reason_against) {
  std::vector<Violation> violations;
  for (const SourceFile& file : tree) {
    if (!is_code(file) || !starts_with_any(file.path, folders)) continue;
    for (const Include& include : includes_of(file)) {
      if (const auto reason = reason_against(file, include)) {
        violations.push_back({file.path, include.line, *reason});
      }
    }
  }
  return violations;
}

}  // namespace architecture
