#include "estimator/fit/physical/absent_bodies.hpp"

#include <algorithm>

namespace estimator {
namespace {

/// Returns whether the pattern matches a recording's name or the name of its file.
bool is_of(std::string_view recording, std::string_view pattern) {
  return matches(recording, pattern) ||
         matches(recording.substr(recording.find_last_of('/') + 1), pattern);
}

}  // namespace

bool matches(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (std::size_t at = star; at <= name.size(); ++at) {
    if (matches(name.substr(at), pattern.substr(star + 1))) return true;
  }
  return false;
}

std::vector<int> bodies_absent_in(const Mechanism& mechanism, const std::string& recording) {
  std::vector<int> absent;
  for (int i = 0; i < mechanism.body_count(); ++i) {
    const std::vector<std::string>& there =
        mechanism.bodies[static_cast<std::size_t>(i)].present_in_recordings;
    const bool named = std::ranges::any_of(
        there, [&](const std::string& pattern) { return is_of(recording, pattern); });
    if (!there.empty() && !named) absent.push_back(i);
  }
  return absent;
}

std::vector<Message> find_unmatched_patterns(const Mechanism& mechanism,
                                             const std::vector<Recording>& recordings) {
  std::vector<Message> notes;
  for (const Body& body : mechanism.bodies) {
    for (const std::string& pattern : body.present_in_recordings) {
      const bool found = std::ranges::any_of(
          recordings, [&](const Recording& recording) { return is_of(recording.name, pattern); });
      if (found) continue;
      notes.push_back(
          {MessageCode::kUnmatchedPattern, {{"body", body.name}, {"pattern", pattern}}});
    }
  }
  return notes;
}

}  // namespace estimator
