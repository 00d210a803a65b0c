#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace service {

/// A computation that depends only on its inputs, such as one draw of a bootstrap.
struct WorkItem {
  std::string key;      ///< hash of all inputs that affect the result, see Fingerprint
  std::string request;  ///< inputs that differ from item to item
  double work = 1.0;    ///< rough relative computing time, to estimate the remaining time
};

/// Result of a work item.
struct WorkResult {
  std::string value;       ///< empty after a failure
  std::string failure;     ///< reason for a missing value, one sentence; empty if there is a value
  double wall_time = 0.0;  ///< computing time [s]
};

/// Function that computes the value of an item. Several threads may call it at once. Setting the
/// flag `stop` ends it early; its value is then not stored.
/// @throws std::invalid_argument or proto::InputError if the item has no result
using WorkFunction =
    std::function<std::string(const WorkItem& item, const std::atomic<bool>* stop)>;

/// Items that are computed by the same function.
struct WorkBatch {
  std::string kind;    ///< name of the function on other machines, e.g. "bootstrap"
  std::string common;  ///< inputs of all items; other machines create the function from them
  std::vector<WorkItem> items;
  WorkFunction compute;  ///< function on this machine
};

}  // namespace service
