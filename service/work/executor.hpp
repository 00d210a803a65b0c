#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "service/work/work_item.hpp"
#include "service/work/work_store.hpp"

namespace service {

/// Progress of an executor.
struct WorkProgress {
  std::size_t done = 0;
  std::size_t total = 0;
  std::size_t kept = 0;     ///< number of `done` items whose results were already in the store
  double time_left = -1.0;  ///< estimated remaining time [s]; negative: unknown
};

/// Function that receives progress at the start and after every item, from one thread at a time.
using WorkProgressFunction = std::function<void(const WorkProgress&)>;

/// Computes the items of a batch, on this machine or on other machines.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Computes all items whose results are not in the store, and stores each result. The results do
  /// not depend on the executor or on the number of its workers.
  /// @param stop         flag that ends the current items without storing them; may be null
  /// @param on_progress  may be empty
  /// @return whether all items have results; false if stopped
  /// @throws proto::InputError if the store cannot be written, or an executor cannot work
  virtual bool run(const WorkBatch& batch, WorkStore& store, const std::atomic<bool>* stop,
                   const WorkProgressFunction& on_progress) = 0;
};

/// Returns an executor that uses threads of this process. It starts with items of little work.
/// @param threads  at least 1
std::unique_ptr<Executor> make_local_executor(int threads);

/// Computes one item and measures its time. If the item is refused, its failure is the reason.
WorkResult compute_item(const WorkBatch& batch, const WorkItem& item,
                        const std::atomic<bool>* stop);

}  // namespace service
