#pragma once

#include <string>
#include <vector>

namespace service {

/// The folder with the runs of an identification: run-01.textproto, run-01.mcap, result-01.json,
/// run-02… Each result uses all recordings up to its own.
class IdentificationFolder {
 public:
  /// Makes the folder if it does not exist.
  /// @throws proto::InputError if that fails, or if a run was left partly recorded
  explicit IdentificationFolder(std::string path);

  /// Number of recorded runs.
  int count() const { return count_; }

  std::string scenario(int run) const { return name("run-", run, ".textproto"); }
  std::string recording(int run) const { return name("run-", run, ".mcap"); }
  std::string result(int run) const { return name("result-", run, ".json"); }
  bool has_result(int run) const;

  /// All recordings, in order.
  std::vector<std::string> recordings() const;

  /// Counts the recordings again.
  void count_runs();

  /// Renames the last recording, so that it does not count as a run. @return its new name
  std::string exclude_last_run();

 private:
  std::string name(const char* stem, int run, const char* ending) const;

  std::string path_;
  int count_ = 0;
};

}  // namespace service
