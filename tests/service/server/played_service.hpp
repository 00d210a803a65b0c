#pragma once

#include <deque>
#include <utility>

#include "service/server/sessions/service_context.hpp"
#include "service/server/storage/log.hpp"
#include "tests/support/for_everybody.hpp"
#include "tests/support/temporary_folder.hpp"

namespace test_support {

/// The service's threads as queues, which a test empties individually.
class PlayedService {
 public:
  PlayedService() {
    service::set_log_level(service::LogLevel::kOff);
    context.data_folder = files.file("data");
    context.limits.free_space_bytes = 0;
    context.limits.store_retry_s = 0.0;
    context.main = poster(main_);
    context.storage = {service::for_everybody(poster(storage_))};
    context.reader = service::for_everybody(poster(main_));
    context.maintenance = service::for_everybody(poster(maintenance_));
  }
  // The queues hold sessions, which hold posters.
  PlayedService(const PlayedService&) = delete;
  PlayedService& operator=(const PlayedService&) = delete;

  /// Runs the tasks of the storage threads, and what they post to the main thread.
  void run_storage() {
    run(storage_);
    run(main_);
  }
  void run_maintenance() {
    run(maintenance_);
    run(main_);
  }
  void run_all() {
    while (!storage_.empty() || !main_.empty() || !maintenance_.empty()) {
      run_storage();
      run_maintenance();
    }
  }
  bool storage_waits() const { return !storage_.empty(); }
  bool maintenance_waits() const { return !maintenance_.empty(); }

  TemporaryFolder files;
  service::ServiceContext context;

 private:
  using Queue = std::deque<service::Task>;

  static service::Poster poster(Queue& queue) {
    return [&queue](service::Task task) { queue.push_back(std::move(task)); };
  }

  static void run(Queue& queue) {
    while (!queue.empty()) {
      const service::Task task = std::move(queue.front());
      queue.pop_front();
      task();
    }
  }

  Queue main_, storage_, maintenance_;
};

}  // namespace test_support
