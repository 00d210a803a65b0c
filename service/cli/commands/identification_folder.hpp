#pragma once

#include <string>
#include <vector>

namespace service {

/// Folder that contains the files of each run of an identification: run-01.textproto, run-01.mcap,
/// result-01.json, run-02.textproto and so on. The result of a run uses the recordings of all runs
/// so far.
class IdentificationFolder {
 public:
  /// Opens the folder, or creates it.
  /// @throws proto::InputError if that fails, or if a run is only partly recorded
  explicit IdentificationFolder(std::string path);

  /// Returns the number of recorded runs.
  int count() const { return count_; }

  std::string scenario(int run) const { return name("run-", run, ".textproto"); }
  std::string recording(int run) const { return name("run-", run, ".mcap"); }
  std::string result(int run) const { return name("result-", run, ".json"); }
  bool has_result(int run) const;

  /// Returns the paths of the recordings of all runs, in order.
  std::vector<std::string> recordings() const;

  /// Counts the recordings in the folder again.
  void count_runs();

  /// Renames the recording of the last run to run-NN.tripped.mcap, so that it no longer counts as a
  /// run.
  /// @return the new path
  std::string exclude_last_run();

 private:
  std::string name(const char* stem, int run, const char* ending) const;

  std::string path_;
  int count_ = 0;
};

}  // namespace service
