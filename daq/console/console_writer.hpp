#pragma once

#include <condition_variable>
#include <deque>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace daq {

/// Writes lines, and a view below them that is rewritten in place, on a thread of its own. A
/// terminal or pipe that accepts no output (Ctrl-S, a stopped reader) therefore delays no other
/// thread. If several views wait, only the newest is written. Thread-safe.
class ConsoleWriter {
 public:
  /// Number of lines that may wait; further lines are left out and counted.
  static constexpr std::size_t kLinesMax = 1000;

  explicit ConsoleWriter(std::ostream& out);
  /// Calls finish().
  ~ConsoleWriter();
  ConsoleWriter(const ConsoleWriter&) = delete;
  ConsoleWriter& operator=(const ConsoleWriter&) = delete;

  /// Writes a line above the view.
  void add_line(std::string line);

  /// Replaces the view. Must only be called if the output is a terminal.
  void show(std::vector<std::string> view);

  /// Removes the view, waits until everything is written, and ends the thread. Nothing may be
  /// written afterwards.
  void finish();

 private:
  void run();
  void write(const std::deque<std::string>& lines, std::size_t left_out);
  void erase_view();
  void draw(const std::vector<std::string>& view);

  std::ostream& out_;
  std::size_t drawn_ = 0;  // lines of the view on the terminal; used by the thread

  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::deque<std::string> lines_;
  std::size_t left_out_ = 0;
  std::optional<std::vector<std::string>> view_;
  bool ending_ = false;

  std::thread thread_;
};

}  // namespace daq
