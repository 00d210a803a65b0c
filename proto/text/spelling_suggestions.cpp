#include "proto/text/spelling_suggestions.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace proto {
namespace {

/// Returns the edit distance of two names [Levenshtein].
int distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// Returns whether `longer` begins with `name`, ignoring case.
bool begins_with(const std::string& longer, const std::string& name) {
  const auto is_equal = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return longer.size() >= name.size() &&
         std::equal(name.begin(), name.end(), longer.begin(), is_equal);
}

}  // namespace

std::vector<std::string> find_similar_names(const std::string& name,
                                            const std::vector<std::string>& names,
                                            std::size_t count) {
  std::vector<std::tuple<int, std::size_t, std::string>> near;  // the shorter of equally near names
  near.reserve(names.size());
  for (const std::string& other : names) {
    near.emplace_back(begins_with(other, name) ? 0 : distance(name, other), other.size(), other);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> nearest;
  for (std::size_t k = 0; k < std::min(count, near.size()); ++k) {
    nearest.push_back(std::get<2>(near[k]));
  }
  return nearest;
}

std::string suggest_spelling(const std::string& name, const std::vector<std::string>& names) {
  constexpr int kLettersPerMistake = 3;
  const std::vector<std::string> nearest = find_similar_names(name, names, 1);
  if (nearest.empty()) return "";
  const auto letters = static_cast<int>(std::min(name.size(), nearest.front().size()));
  if (kLettersPerMistake * distance(name, nearest.front()) > letters) return "";
  return "; did you mean \"" + nearest.front() + "\"?";
}

}  // namespace proto
