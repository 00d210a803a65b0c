#include "service/calibration/batch_run.hpp"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "proto/calibration.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/table/table_cells.hpp"
#include "proto/text/table/table_layout.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/recordings/file_digest.hpp"
#include "service/result/calibration_message.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/work/fingerprint.hpp"
#include "service/work/work_lines.hpp"

namespace service {
namespace {

CalibrationRequest make_batch_request(const std::vector<std::string>& fields,
                                      const std::string& version,
                                      const estimator::CalibrationOptions& options) {
  CalibrationRequest request;
  request.rig_name = fields.at(0);
  request.rig_text = fields.at(1);
  for (std::size_t i = 2; i < fields.size(); ++i) {
    request.recordings.push_back({.path = fields[i]});
  }
  request.options = options;
  request.version = version;
  return request;
}

WorkFunction make_calibration_function(const std::string& version,
                                       const estimator::CalibrationOptions& options) {
  return [version, options](const WorkItem& item, const std::atomic<bool>* stop) {
    const auto fields = parse_work_line(item.request).value();
    CalibrationInput input = load_calibration_input(make_batch_request(fields, version, options));
    estimator::CalibrationMonitor monitor;
    monitor.stop = stop;
    const estimator::Calibration calibration = run_calibration(input, monitor);
    return calibration_json(calibration, input.context);
  };
}

/// Returns the options as a line, in the order of their table.
std::string format_options_line(const std::string& version,
                                const estimator::CalibrationOptions& options) {
  std::vector<std::string> fields = {version};
  for (const estimator::OptionRow& row : estimator::kOptionRows) {
    fields.push_back(format_option(row, options));
  }
  return format_work_line(fields);
}

/// Returns the item of an entry. Its key contains the contents of all files.
/// @throws proto::InputError if a file cannot be read
WorkItem make_batch_item(const BatchEntry& entry, const Fingerprint& shared) {
  std::vector<std::string> fields = {entry.rig, proto::read_file(entry.rig)};
  Fingerprint key = shared;
  key.add(fields[1]);
  for (const std::string& recording : entry.recordings) {
    if (!std::filesystem::exists(recording)) {
      throw proto::InputError(recording + ": does not exist; correct the list");
    }
    fields.push_back(recording);
    // Names of recordings can select bodies of the rig.
    key.add(recording).add(compute_file_digest(recording).sha256);
  }
  std::string request = format_work_line(fields);
  request.pop_back();
  return {.key = key.hex(), .request = std::move(request)};
}

BatchOutcome read_outcome(const WorkResult& result) {
  BatchOutcome outcome{.failure = result.failure, .json = result.value};
  if (!outcome.failure.empty()) return outcome;
  rigcal::v1::CalibrationResult message;
  if (!google::protobuf::util::JsonStringToMessage(result.value, &message).ok()) {
    outcome.failure = "the stored result is damaged; repeat the command with another folder";
    return outcome;
  }
  outcome.converged = message.converged();
  outcome.verdict = message.verdict().kind();
  outcome.sentence = message.verdict().sentence();
  for (const rigcal::v1::ParameterResult& each : message.parameters()) {
    outcome.estimates.push_back(
        {each.name(), each.unit(), each.value(), each.standard_deviation(), each.half_interval()});
  }
  return outcome;
}

/// Returns the cells of a line of the list.
std::vector<std::string> split_line(std::string_view line) {
  std::vector<std::string_view> cells;
  proto::split_cells(line, ',', cells);
  std::vector<std::string> texts;
  for (const std::string_view cell : cells) texts.emplace_back(proto::unquote_cell(cell));
  return texts;
}

std::size_t find_column(const std::string& path, const std::vector<std::string>& header,
                        const char* name) {
  const auto found = std::ranges::find(header, name);
  if (found == header.end()) {
    throw proto::InputError(path + ":1: there is no column \"" + name +
                            "\"; the first line must contain \"recording,rig\"");
  }
  return static_cast<std::size_t>(found - header.begin());
}

/// Returns the paths in a cell, which semicolons separate.
std::vector<std::string> paths_in(const std::string& cell, const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  std::istringstream names(cell);
  for (std::string name; std::getline(names, name, ';');) {
    const std::string_view trimmed = proto::trim_blanks(name);
    if (!trimmed.empty()) paths.push_back((folder / trimmed).lexically_normal().string());
  }
  return paths;
}

}  // namespace

std::vector<BatchEntry> read_batch_list(const std::string& path) {
  const std::string text = proto::read_file(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  proto::LineReader lines(proto::strip_byte_order_mark(text));
  std::vector<BatchEntry> entries;
  std::optional<std::size_t> recording, rig;
  while (lines.next()) {
    if (proto::is_blank_or_comment(lines.line())) continue;
    const std::vector<std::string> cells = split_line(lines.line());
    if (!rig) {
      recording = find_column(path, cells, "recording");
      rig = find_column(path, cells, "rig");
      continue;
    }
    const auto paths_of = [&](std::size_t column) {
      return column < cells.size() ? paths_in(cells[column], folder) : std::vector<std::string>();
    };
    const std::vector<std::string> recordings = paths_of(*recording), rigs = paths_of(*rig);
    if (recordings.empty() || rigs.size() != 1) {
      throw proto::InputError(path + ":" + std::to_string(lines.number()) +
                              ": needs one rig file and at least one recording; complete the line");
    }
    entries.push_back({recordings, rigs.front()});
  }
  if (entries.empty()) {
    throw proto::InputError(path +
                            ": lists no calibrations; the first line must be "
                            "\"recording,rig\", and each further line names two files");
  }
  return entries;
}

WorkFunction make_batch_function(const std::string& common) {
  const auto fields =
      parse_work_line(std::string_view(common).substr(0, common.empty() ? 0 : common.size() - 1));
  estimator::CalibrationOptions options;
  bool valid = fields && fields->size() == 1 + std::size(estimator::kOptionRows);
  for (std::size_t i = 0; valid && i < std::size(estimator::kOptionRows); ++i) {
    const std::string& text = fields->at(1 + i);
    const estimator::OptionRow& row = estimator::kOptionRows[i];
    valid = text == format_option(row, options) || set_option(row, text, options);
  }
  if (!valid) {
    throw proto::InputError("the options of the tasks are damaged; repeat \"rigcal batch\"");
  }
  return make_calibration_function(fields->front(), options);
}

std::vector<BatchOutcome> run_batch(const std::vector<BatchEntry>& entries,
                                    const estimator::CalibrationOptions& options,
                                    const std::string& version, const std::string& program,
                                    Executor& executor, WorkStore& store,
                                    const std::atomic<bool>* stop,
                                    const WorkProgressFunction& on_progress) {
  WorkBatch batch{.kind = kBatchWork, .common = format_options_line(version, options)};
  batch.compute = make_calibration_function(version, options);
  Fingerprint shared;
  shared.add(program).add(batch.common);
  std::vector<BatchOutcome> outcomes(entries.size());
  std::vector<std::string> keys(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    try {
      batch.items.push_back(make_batch_item(entries[i], shared));
      keys[i] = batch.items.back().key;
    } catch (const proto::InputError& fault) {
      outcomes[i].failure = fault.what();
    }
  }
  if (!executor.run(batch, store, stop, on_progress)) return {};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!keys[i].empty()) outcomes[i] = read_outcome(store.find(keys[i]).value());
  }
  return outcomes;
}

}  // namespace service
