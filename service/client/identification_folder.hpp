#pragma once

#include <string>
#include <vector>

namespace service {

/// Where an identification keeps its runs: run-01.textproto, run-01.mcap, result-01.json, run-02…,
/// each result from all recordings up to its own.
class IdentificationFolder {
 public:
  /// Makes it if there is none.
  /// @throws proto::InputError where that cannot be, or a run was left half recorded
  explicit IdentificationFolder(std::string path);

  /// Runs recorded.
  int count() const { return count_; }

  std::string scenario(int run) const { return name("run-", run, ".textproto"); }
  std::string recording(int run) const { return name("run-", run, ".mcap"); }
  std::string result(int run) const { return name("result-", run, ".json"); }
  bool has_result(int run) const;

  /// All recordings, in order.
  std::vector<std::string> recordings() const;

  /// Looks for recordings again.
  void look();

  /// Renames the last recording, so that it is no run. @return its new name
  std::string set_aside();

 private:
  std::string name(const char* stem, int run, const char* ending) const;

  std::string path_;
  int count_ = 0;
};

}  // namespace service
