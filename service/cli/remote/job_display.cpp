#include "service/cli/remote/job_display.hpp"

#include <algorithm>
#include <cmath>

#include "proto/stream/service_limits.hpp"
#include "proto/text/printable.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using rigcal::v1::JobInfo;
using rigcal::v1::JobProgress;

constexpr int kBarWidth = 30;

// The number of iterations is not known in advance. Every kHalvingIterations iterations halve the
// remaining part of the bar. Typical calibrations take 10 to 40.
constexpr double kHalvingIterations = 10.0;

// Share of all calibrations of the job. Each stage counts its iterations from 0.
double share_of(const JobProgress& progress) {
  const int count = std::max(progress.calibration_count(), 1);
  const int before = std::clamp(progress.calibration() - 1, 0, count - 1);
  const double within = 1.0 - std::exp2(-progress.iteration() / kHalvingIterations);
  return (before + within) / count;
}

std::string bar(double share) {
  const auto filled = static_cast<int>(kBarWidth * share);  // full only when done
  std::string text = "[";
  for (int k = 0; k < kBarWidth; ++k) text += k < filled ? '#' : '.';
  return text += ']';
}

std::string change_text(double before, double now) {
  if (!std::isfinite(before) || before == 0.0) return "";
  const double percent = 100.0 * (now - before) / std::abs(before);
  if (std::abs(percent) < 0.005) return "";  // emphasizes the values that still change
  return format_signed(percent, 3) + " %";
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Gradient and step norms; empty before the first step.
std::string convergence_text(const JobProgress& progress) {
  if (!(progress.step_norm() > 0.0)) return "";
  return "gradient " + format_number(progress.gradient_norm(), 2) + "  step " +
         format_number(progress.step_norm(), 2);
}

std::string stage_text(const JobProgress& progress) {
  if (progress.stage().empty()) return "reading the recordings";
  if (progress.values_size() == 0) return progress.stage();
  return progress.stage() + ": iteration " + std::to_string(progress.iteration()) + "  cost " +
         format_number(progress.cost(), 6);
}

std::string recordings_text(const JobInfo& info) {
  const int count = info.session_ids_size();
  return std::to_string(count) + (count == 1 ? " recording" : " recordings");
}

}  // namespace

std::string job_status(const JobInfo& info) {
  const JobProgress& progress = info.progress();
  if (info.state() == rigcal::v1::JOB_QUEUED) {
    return "queued, place " + std::to_string(info.queue_position()) +
           (info.error().empty() ? "" : ": " + proto::escape_for_terminal(info.error()));
  }
  if (info.state() != rigcal::v1::JOB_RUNNING) return proto::state_name(info.state());
  const std::string convergence = convergence_text(progress);
  return proto::escape_for_terminal(stage_text(progress)) +
         (convergence.empty() ? "" : "  " + convergence);
}

std::string job_stage(const JobInfo& info) {
  const std::string& stage = info.progress().stage();
  if (info.state() != rigcal::v1::JOB_RUNNING || stage.empty()) return job_status(info);
  return proto::escape_for_terminal(stage.substr(0, stage.find(", ")));
}

void JobDisplay::update(const JobInfo& info) {
  const JobProgress& old = info_.progress();
  const JobProgress& now = info.progress();
  const bool same_stage = old.stage() == now.stage();
  if (!same_stage || old.iteration() != now.iteration()) {
    before_.clear();
    if (same_stage) before_.assign(old.values().begin(), old.values().end());
  }
  bar_share_ = std::max(bar_share_, share_of(now));
  info_ = info;
}

std::vector<std::string> JobDisplay::lines(const TerminalSize& size, double elapsed_s) const {
  std::vector<std::string> lines;
  std::string head = info_.job_id() + "  " + proto::state_name(info_.state());
  if (elapsed_s > 0.0) {
    head += "  " + std::to_string(std::lround(std::floor(elapsed_s))) + " s";
  }
  lines.push_back(head + "  " + info_.rig_name() + ", " + recordings_text(info_));
  const JobProgress& progress = info_.progress();
  if (info_.state() == rigcal::v1::JOB_QUEUED) lines.push_back(job_status(info_));
  if (info_.state() == rigcal::v1::JOB_RUNNING) lines.push_back(stage_text(progress));
  if (info_.state() == rigcal::v1::JOB_RUNNING && progress.values_size() > 0) {
    lines.push_back(bar(bar_share_) + ' ' + convergence_text(progress));
    std::vector<std::vector<std::string>> rows = {{"parameter", "value", "change"}};
    for (int k = 0; k < std::min(progress.parameters_size(), progress.values_size()); ++k) {
      const auto index = static_cast<std::size_t>(k);
      const double now = progress.values(k);
      rows.push_back({progress.parameters(k), format_number(now, 6),
                      index < before_.size() ? change_text(before_[index], now) : ""});
    }
    for (std::string& row : split_lines(format_table(rows, {false, true, true}))) {
      lines.push_back("  " + row);
    }
  }
  const auto rows_max = static_cast<std::size_t>(std::max(size.rows - 1, 1));
  if (lines.size() > rows_max) {
    const std::size_t hidden = lines.size() - rows_max + 1;
    lines.resize(rows_max);
    lines.back() = "  … " + std::to_string(hidden) + " more in a taller window";
  }
  for (std::string& line : lines)
    line = cut_to_width(proto::escape_for_terminal(line), size.columns);
  return lines;
}

}  // namespace service
