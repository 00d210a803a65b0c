#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace service {

/// A queue that shares a resource fairly among client identities. Entries of the identity that used
/// the resource least come first. Identities with equal use take turns: the oldest entry of each
/// identity is served in turn, and a new identity takes the last turn. An identity therefore waits
/// for at most one entry of each other identity with equal use.
class FairQueue {
 public:
  /// Adds the entry `id` after all other entries of `identity`.
  void add(const std::string& identity, const std::string& id);

  /// Removes the entry `id` because it is served now. Its identity moves to the last position in
  /// the turns.
  void serve(const std::string& id);

  /// Removes the entry `id` without serving it. Its identity keeps its position in the turns.
  void remove(const std::string& id);

  /// Returns the ids of all entries in the order in which they should be served.
  /// @param used  returns how much of the shared resource an identity has used
  std::vector<std::string> order(
      const std::function<double(const std::string& identity)>& used) const;

  std::size_t size() const;
  std::size_t size(const std::string& identity) const;

 private:
  struct OwnerQueue {
    std::string identity;
    std::deque<std::string> ids;
  };
  std::list<OwnerQueue>::iterator remove_entry(const std::string& id);

  std::list<OwnerQueue> queues_;  // next turn first; none is empty
};

}  // namespace service
