#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
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
  explicit IdentificationFolder(const std::string& path);

  /// Returns the number of recorded runs.
  int count() const { return count_; }

  std::string scenario(int run) const { return name("run-", run, ".textproto"); }
  std::string recording(int run) const { return name("run-", run, ".mcap"); }
  std::string result(int run) const { return name("result-", run, ".json"); }
  bool has_result(int run) const { return std::filesystem::exists(result(run)); }

  /// Counts the recordings in the folder again.
  void count_runs();

  /// Renames the recording of the last run, so that it no longer counts as a run, and removes its
  /// result.
  /// @param why  part of the new name, run-NN.WHY.mcap or run-NN.WHY-2.mcap and so on
  /// @return the new path
  std::string exclude_last_run(const std::string& why);

 private:
  std::string name(const std::string& stem, int run, const std::string& ending) const;

  std::filesystem::path path_;
  int count_ = 0;
};

/// Runs another program, which writes to this program's output, and waits for its end.
///
/// The child process has a separate process group, so a terminal's Ctrl-C reaches only this
/// program. On Ctrl-C this program sends one SIGINT to the child and waits, because some programs
/// would abort at a second SIGINT. If this program is killed, the kernel sends SIGINT to the child.
///
/// @param command  program and arguments; a name without a slash is searched along PATH
/// @param stop     flag that Ctrl-C sets
/// @return exit status of the child, or 128 + signal
/// @throws proto::InputError if the program cannot be started
int run_program(const std::vector<std::string>& command, const std::atomic<bool>& stop);

/// Returns the path of the program `name` in this program's folder, or `name` itself if it is not
/// there.
std::string program_beside_this(const std::string& name);

/// Safety trip that ended a run.
struct RunTrip {
  std::string text;  ///< one or two sentences, the last one without full stop
  /// Whether motors were driven until a joint reached a motion limit, so that the samples before
  /// the trip are usable.
  bool is_usable = false;
};

/// Returns the safety trip that ended a recorded run; nullopt if there was none.
std::optional<RunTrip> find_run_trip(const std::string& recording);

}  // namespace service
