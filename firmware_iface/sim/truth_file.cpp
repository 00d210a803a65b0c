#include "firmware_iface/sim/truth_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace firmware_iface::sim {
namespace {

void refuse_existing(const std::string& path) {
  if (std::filesystem::exists(std::filesystem::symlink_status(path))) {
    throw std::runtime_error(path + ": exists already; choose another name");
  }
}

// Creates a new file. A link counts as an existing file, wherever it leads.
std::ofstream create(const std::string& path) {
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made < 0 && errno == EEXIST) {
    throw std::runtime_error(path + ": exists already; choose another name");
  }
  if (made >= 0) ::close(made);
  std::ofstream out(path);
  if (made < 0 || !out) {
    throw std::runtime_error(path + ": cannot be written; check that its folder exists");
  }
  return out;
}

}  // namespace

TruthFile::TruthFile(const std::string& path, const std::string& parameters, int joint_count,
                     Nanoseconds start, int motor_count)
    : path_(path), joint_count_(joint_count), motor_count_(motor_count), start_(start) {
  const std::string parameters_path = path + ".textproto";
  for (const std::string& file : {path, parameters_path}) refuse_existing(file);
  out_ = create(path);
  create(parameters_path) << parameters;
  out_ << "time_s,unit_time_us,sample_sequence";
  for (const char* name : {"theta%d_rad", "omega%d_rad_s", "count%d"}) {
    for (int k = 1; k <= joint_count; ++k) {
      std::array<char, 32> column{};
      std::snprintf(column.data(), column.size(), name, k);
      out_ << ',' << column.data();
    }
  }
  if (motor_count == 1) out_ << ",command_V";
  for (int m = 1; motor_count > 1 && m <= motor_count; ++m) out_ << ",command" << m;
  out_ << ",tripped,held\n";
}

void TruthFile::write(const TrueState& truth) {
  std::array<char, 64> text{};
  const auto put = [&](const char* format, auto value) {
    std::snprintf(text.data(), text.size(), format, value);
    out_ << text.data();
  };
  put("%.9f", std::chrono::duration<double>(truth.time - start_).count());
  put(",%" PRIu64, truth.unit_time_us);
  out_ << ',';
  if (truth.sample_sequence) put("%" PRIu32, *truth.sample_sequence);
  const auto count = static_cast<std::size_t>(joint_count_);
  for (std::size_t k = 0; k < count; ++k) put(",%.12g", truth.state.angle_rad[k]);
  for (std::size_t k = 0; k < count; ++k) put(",%.12g", truth.state.speed_rad_s[k]);
  for (std::size_t k = 0; k < count; ++k) put(",%" PRId64, truth.encoder_counts[k]);
  for (std::size_t m = 0; m < static_cast<std::size_t>(motor_count_); ++m) {
    put(",%.9g", truth.command[m]);
  }
  out_ << (truth.tripped ? ",1" : ",0") << (truth.held ? ",1\n" : ",0\n");
}

void TruthFile::close() {
  out_.close();
  if (!out_)
    throw std::runtime_error(path_ +
                             ": could not be written completely; check the free disk space");
}

}  // namespace firmware_iface::sim
