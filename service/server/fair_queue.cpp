#include "service/server/fair_queue.hpp"

#include <algorithm>
#include <utility>

namespace service {

void FairQueue::add(const std::string& identity, const std::string& id) {
  const auto line = std::find_if(lines_.begin(), lines_.end(),
                                 [&](const Line& other) { return other.identity == identity; });
  if (line == lines_.end()) {
    lines_.push_back({identity, {id}});
  } else {
    line->ids.push_back(id);
  }
}

// Removes an entry. Returns its line, or end() if that is empty now.
std::list<FairQueue::Line>::iterator FairQueue::take_out(const std::string& id) {
  for (auto line = lines_.begin(); line != lines_.end(); ++line) {
    if (std::erase(line->ids, id) == 0) continue;
    if (!line->ids.empty()) return line;
    lines_.erase(line);
    break;
  }
  return lines_.end();
}

void FairQueue::serve(const std::string& id) {
  const auto line = take_out(id);
  if (line != lines_.end()) lines_.splice(lines_.end(), lines_, line);
}

void FairQueue::remove(const std::string& id) { take_out(id); }

std::vector<std::string> FairQueue::order(
    const std::function<double(const std::string& identity)>& used) const {
  std::vector<std::pair<double, const Line*>> lines;
  for (const Line& line : lines_) lines.emplace_back(used(line.identity), &line);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> ids;
  const std::size_t count = size();
  for (std::size_t round = 0; ids.size() < count; ++round) {
    for (const auto& [use, line] : lines) {
      if (round < line->ids.size()) ids.push_back(line->ids[round]);
    }
  }
  return ids;
}

std::size_t FairQueue::size() const {
  std::size_t count = 0;
  for (const Line& line : lines_) count += line.ids.size();
  return count;
}

std::size_t FairQueue::size(const std::string& identity) const {
  const auto line = std::find_if(lines_.begin(), lines_.end(),
                                 [&](const Line& other) { return other.identity == identity; });
  return line == lines_.end() ? 0 : line->ids.size();
}

}  // namespace service
