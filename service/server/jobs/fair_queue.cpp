#include "service/server/jobs/fair_queue.hpp"

#include <algorithm>
#include <utility>

namespace service {

void FairQueue::add(const std::string& identity, const std::string& id) {
  const auto line = std::ranges::find(queues_, identity, &OwnerQueue::identity);
  if (line == queues_.end()) {
    queues_.push_back({identity, {id}});
  } else {
    line->ids.push_back(id);
  }
}

// Removes an entry. Returns its line, or end() if that is empty now.
std::list<FairQueue::OwnerQueue>::iterator FairQueue::remove_entry(const std::string& id) {
  for (auto line = queues_.begin(); line != queues_.end(); ++line) {
    if (std::erase(line->ids, id) == 0) continue;
    if (!line->ids.empty()) return line;
    queues_.erase(line);
    break;
  }
  return queues_.end();
}

void FairQueue::serve(const std::string& id) {
  const auto line = remove_entry(id);
  if (line != queues_.end()) queues_.splice(queues_.end(), queues_, line);
}

void FairQueue::remove(const std::string& id) { remove_entry(id); }

std::vector<std::string> FairQueue::order(
    const std::function<double(const std::string& identity)>& used) const {
  std::vector<std::pair<double, const OwnerQueue*>> lines;
  for (const OwnerQueue& line : queues_) lines.emplace_back(used(line.identity), &line);
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
  for (const OwnerQueue& line : queues_) count += line.ids.size();
  return count;
}

std::size_t FairQueue::size(const std::string& identity) const {
  const auto line = std::ranges::find(queues_, identity, &OwnerQueue::identity);
  return line == queues_.end() ? 0 : line->ids.size();
}

}  // namespace service
