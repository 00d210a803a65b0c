#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace service {

/// What waits for its turn, by identity: whoever has used least comes first; of those who used the
/// same they take turns, each with its oldest first, and who comes anew is behind all who wait.
/// Among those who used the same another waits for one of it at most, however much one has waiting;
/// and for more only until they have used as much as it has.
class FairQueue {
 public:
  /// Behind what that identity has waiting.
  void add(const std::string& identity, const std::string& id);

  /// Its turn is over: it leaves the queue, and its identity goes last.
  void serve(const std::string& id);

  /// It leaves the queue, and its identity keeps its place.
  void remove(const std::string& id);

  /// In the order in which the turns come.
  /// @param used  by an identity, of what they share
  std::vector<std::string> order(
      const std::function<double(const std::string& identity)>& used) const;

  std::size_t size() const;
  std::size_t size(const std::string& identity) const;

 private:
  struct Line {
    std::string identity;
    std::deque<std::string> ids;
  };
  std::list<Line>::iterator take_out(const std::string& id);

  std::list<Line> lines_;  // whose turn is next first; none is empty
};

}  // namespace service
