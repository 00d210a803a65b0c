#include "daq/console/console_writer.hpp"

#include <ostream>
#include <utility>

#include "proto/text/command_line/standard_streams.hpp"

namespace daq {

ConsoleWriter::ConsoleWriter(std::ostream& out) : out_(out), thread_([this] { run(); }) {}

ConsoleWriter::~ConsoleWriter() { finish(); }

void ConsoleWriter::add_line(std::string line) {
  {
    const std::lock_guard lock(mutex_);
    if (lines_.size() < kLinesMax) {
      lines_.push_back(std::move(line));
    } else {
      ++left_out_;
    }
  }
  wake_.notify_all();
}

void ConsoleWriter::show(std::vector<std::string> view) {
  {
    const std::lock_guard lock(mutex_);
    view_ = std::move(view);
  }
  wake_.notify_all();
}

void ConsoleWriter::finish() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ConsoleWriter::run() {
  for (bool ending = false; !ending;) {
    std::deque<std::string> lines;
    std::optional<std::vector<std::string>> view;
    std::size_t left_out = 0;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ending_ || !lines_.empty() || view_; });
      lines.swap(lines_);
      view.swap(view_);
      left_out = std::exchange(left_out_, 0);
      ending = ending_;
    }
    if (ending || !lines.empty()) erase_view();
    write(lines, left_out);
    if (view && !ending) draw(*view);
    out_ << std::flush;
  }
}

void ConsoleWriter::write(const std::deque<std::string>& lines, std::size_t left_out) {
  for (const std::string& line : lines) out_ << line << '\n';
  if (left_out > 0) out_ << "(" << left_out << " lines are left out)\n";
}

void ConsoleWriter::erase_view() {
  if (drawn_ == 0) return;
  const std::string up = "\033[" + std::to_string(drawn_) + "A\033[J";
  out_ << proto::TerminalCodes{up};
  drawn_ = 0;
}

// Without automatic line breaks, a line of the view that is wider than the terminal takes one row.
void ConsoleWriter::draw(const std::vector<std::string>& view) {
  if (drawn_ != view.size()) erase_view();
  const std::string up =
      (drawn_ > 0 ? "\033[" + std::to_string(drawn_) + "A" : std::string()) + "\033[?7l";
  out_ << proto::TerminalCodes{up};
  for (const std::string& line : view) out_ << line << proto::TerminalCodes{"\033[K"} << '\n';
  out_ << proto::TerminalCodes{"\033[?7h"};
  drawn_ = view.size();
}

}  // namespace daq
