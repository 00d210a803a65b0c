#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace service {

/// A queue that shares a resource fairly among identities. The identity with the least use comes
/// first. Identities with equal use take turns, each with its oldest entry first; a new identity
/// goes last. However many entries one identity has, another with equal use waits for at most one
/// of them, and for more only until its own use is as large.
class FairQueue {
 public:
  /// Adds an entry after the identity's other entries.
  void add(const std::string& identity, const std::string& id);

  /// Removes an entry whose turn has come; its identity goes last.
  void serve(const std::string& id);

  /// Removes an entry; its identity keeps its position.
  void remove(const std::string& id);

  /// Returns the entries in the order of their turns.
  /// @param used  returns an identity's use of the shared resource
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
