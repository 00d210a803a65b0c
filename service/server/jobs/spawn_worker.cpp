#include "service/server/jobs/spawn_worker.hpp"

#include <spawn.h>
#include <unistd.h>

#include <cstring>

#include "service/server/jobs/worker_messages.hpp"

namespace service {

proto::Result<pid_t> spawn_worker(std::vector<std::string> words,
                                  const std::vector<std::pair<int, int>>& descriptors) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const auto& [own, in_worker] : descriptors) {
    ::posix_spawn_file_actions_adddup2(&actions, own, in_worker);
  }
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kProgressDescriptor + 1);
  pid_t pid = 0;
  const int failed =
      ::posix_spawn(&pid, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return pid;
  return proto::Error{proto::ErrorCode::kInputOutput,
                      words.front() + ": cannot start a worker: " + std::strerror(failed)};
}

}  // namespace service
