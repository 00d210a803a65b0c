#include "service/calibration/bootstrap_run.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "proto/calibration.pb.h"
#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/result_message.hpp"
#include "service/work/fingerprint.hpp"
#include "service/work/work_lines.hpp"

namespace service {
namespace {

using estimator::BootstrapMethod;

/// Number of blocks of time without the option for their length.
constexpr double kBlockCount = 12.0;
constexpr std::size_t kBlocksMin = 4;

/// Cuts the recordings into blocks of time, each with the name of its recording, because the name
/// determines which bodies are mounted.
std::vector<estimator::Recording> cut_into_blocks(
    const std::vector<estimator::Recording>& recordings, double length) {
  if (length == 0.0) {
    for (const estimator::Recording& recording : recordings) {
      for (const estimator::Segment& segment : recording.segments) length += segment.duration();
    }
    length /= kBlockCount;
  }
  std::vector<estimator::Recording> blocks;
  for (const estimator::Recording& recording : cut_into_windows(recordings, length)) {
    for (const estimator::Segment& segment : recording.segments) {
      blocks.push_back({recording.name, {segment}});
    }
  }
  if (blocks.size() < kBlocksMin) {
    throw proto::InputError("the recordings give only " + std::to_string(blocks.size()) +
                            " blocks, and a bootstrap needs " + std::to_string(kBlocksMin) +
                            "; give a shorter --block-length, or longer recordings");
  }
  return blocks;
}

/// Calibration and inputs of the draws of a bootstrap.
struct PreparedBootstrap {
  estimator::Calibration calibration;
  estimator::BootstrapInput input;
};

bool uses_method(const BootstrapSettings& settings, BootstrapMethod method) {
  return std::ranges::count(settings.methods, method) > 0;
}

/// Calibrates the recordings, and prepares the draws from the repaired recordings.
PreparedBootstrap prepare_bootstrap(CalibrationInput& input, const BootstrapSettings& settings,
                                    const estimator::CalibrationMonitor& monitor) {
  PreparedBootstrap prepared;
  prepared.calibration = run_calibration(input, monitor);
  if (is_stop_requested(monitor)) return prepared;
  try {
    prepared.input =
        make_bootstrap_input(input.rig.mechanism, input.recordings, prepared.calibration,
                             input.context.options, settings.disc_error);
  } catch (const std::invalid_argument& fault) {
    throw proto::InputError(describe_estimator_failure(input, fault.what()));
  }
  prepared.input.seed = settings.seed;
  const bool by_blocks = uses_method(settings, BootstrapMethod::kBlocks);
  const bool by_parts = uses_method(settings, BootstrapMethod::kLeaveOut);
  prepared.input.leaves_out_blocks = by_parts && input.recordings.size() == 1;
  if (by_blocks || prepared.input.leaves_out_blocks) {
    prepared.input.blocks = cut_into_blocks(input.recordings, settings.block_length);
  }
  if (by_parts) {
    prepared.input.parts =
        prepared.input.leaves_out_blocks ? prepared.input.blocks : input.recordings;
  }
  return prepared;
}

std::string format_draw(const estimator::BootstrapDraw& draw) {
  std::string text;
  for (std::size_t i = 0; i < draw.values.size(); ++i) {
    text += (i == 0 ? "" : " ") + notation::format_exact(draw.values[i]) + " " +
            notation::format_exact(draw.half_intervals[i]);
  }
  return text;
}

estimator::BootstrapDraw parse_draw(const std::string& text) {
  estimator::BootstrapDraw draw;
  std::istringstream words(text);
  for (std::string value, half; words >> value >> half;) {
    draw.values.push_back(std::strtod(value.c_str(), nullptr));
    draw.half_intervals.push_back(std::strtod(half.c_str(), nullptr));
  }
  return draw;
}

/// Returns the function that computes a draw from its request, "METHOD INDEX".
WorkFunction make_draw_function(std::shared_ptr<const estimator::BootstrapInput> input) {
  return [input](const WorkItem& item, const std::atomic<bool>* stop) {
    int method = 0, index = 0;
    std::istringstream(item.request) >> method >> index;
    estimator::CalibrationMonitor monitor;
    monitor.stop = stop;
    return format_draw(estimator::compute_bootstrap_draw(
        *input, static_cast<BootstrapMethod>(method), index, monitor));
  };
}

/// Returns the bytes of a message, with the entries of maps in a fixed order, for keys.
std::string serialize_in_order(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

/// Returns the inputs of all draws: the request of the calibration and the settings.
std::string format_common(const CalibrationInput& input, const BootstrapSettings& settings) {
  rigcal::v1::ProvenanceResult provenance;
  fill_provenance(input.context, &provenance);
  provenance.clear_date();
  std::string methods;
  for (const BootstrapMethod method : settings.methods) {
    methods += std::to_string(static_cast<int>(method)) + " ";
  }
  return format_work_line({serialize_in_order(provenance), std::to_string(settings.seed),
                           notation::format_exact(settings.block_length),
                           notation::format_exact(settings.disc_error), methods});
}

int draw_count(const BootstrapSettings& settings, const estimator::BootstrapInput& input,
               BootstrapMethod method) {
  return method == BootstrapMethod::kLeaveOut ? static_cast<int>(input.parts.size())
                                              : settings.draws;
}

std::string request_of(BootstrapMethod method, int index) {
  return std::to_string(static_cast<int>(method)) + " " + std::to_string(index);
}

/// @param common  inputs of all draws, without the methods, so that draws of one method have the
///                same keys whichever other methods are used
WorkBatch make_batch(const std::string& common, const std::string& program,
                     const BootstrapSettings& settings, const estimator::BootstrapInput& input) {
  WorkBatch batch{.kind = kBootstrapWork};
  Fingerprint shared;
  shared.add(program).add(common);
  for (const BootstrapMethod method : settings.methods) {
    for (int i = 0; i < draw_count(settings, input, method); ++i) {
      WorkItem& item = batch.items.emplace_back();
      item.request = request_of(method, i);
      item.key = Fingerprint(shared).add(item.request).hex();
    }
  }
  return batch;
}

/// Reads the draws from the store, and counts those without result.
void collect_draws(const WorkBatch& batch, const WorkStore& store, BootstrapResult& result,
                   estimator::BootstrapDraws& draws) {
  std::size_t next = 0;
  for (BootstrapMethodCount& count : result.counts) {
    std::vector<estimator::BootstrapDraw>& own =
        count.method == BootstrapMethod::kNoise    ? draws.noise
        : count.method == BootstrapMethod::kBlocks ? draws.blocks
                                                   : draws.left_out;
    for (int i = 0; i < count.draws; ++i) {
      const WorkResult draw = store.find(batch.items[next++].key).value();
      if (draw.failure.empty()) {
        own.push_back(parse_draw(draw.value));
      } else if (++count.failed == 1) {
        count.failure = draw.failure;
      }
    }
  }
}

/// Calibrates all blocks jointly.
/// @throws proto::InputError if the blocks are too short for that
estimator::BootstrapDraw fit_blocks(const CalibrationInput& input,
                                    const estimator::BootstrapInput& draws,
                                    const estimator::CalibrationMonitor& monitor) {
  try {
    return calibrate_all_blocks(draws, monitor);
  } catch (const std::invalid_argument& fault) {
    if (is_stop_requested(monitor)) return {};
    throw proto::InputError(
        describe_estimator_failure(input, std::string("blocks of time: ") + fault.what()) +
        "; give a longer --block-length, or only the method \"noise\"");
  }
}

void add_bootstrap_notes(const CalibrationInput& input, BootstrapResult& result) {
  for (const BootstrapMethodCount& count : result.counts) {
    if (count.failed == 0) continue;
    result.notes.push_back(std::to_string(count.failed) + " of " + std::to_string(count.draws) +
                           " draws of \"" + bootstrap_method_name(count.method) +
                           "\" have no result: " + count.failure);
  }
  if (uses_method(result.settings, BootstrapMethod::kNoise) &&
      !can_simulate_readings(input.rig.mechanism, result.calibration)) {
    result.notes.emplace_back(
        "draws of \"noise\" simulate only the errors of encoders, and neither other sensors nor "
        "process noise: their intervals may be too narrow");
  }
}

}  // namespace

const char* bootstrap_method_name(BootstrapMethod method) {
  return method == BootstrapMethod::kNoise    ? "noise"
         : method == BootstrapMethod::kBlocks ? "blocks"
                                              : "leave-out";
}

std::optional<BootstrapResult> run_bootstrap(CalibrationInput& input,
                                             const BootstrapSettings& settings,
                                             const std::string& program, Executor& executor,
                                             WorkStore& store,
                                             const estimator::CalibrationMonitor& monitor,
                                             const WorkProgressFunction& on_progress) {
  const auto start = std::chrono::steady_clock::now();
  const std::string common = format_common(input, settings);
  BootstrapSettings without_methods = settings;
  without_methods.methods.clear();
  const std::string key_text = format_common(input, without_methods);
  PreparedBootstrap prepared = prepare_bootstrap(input, settings, monitor);
  if (is_stop_requested(monitor)) return std::nullopt;
  const auto draws_input =
      std::make_shared<const estimator::BootstrapInput>(std::move(prepared.input));
  WorkBatch batch = make_batch(key_text, program, settings, *draws_input);
  batch.common = common;
  batch.compute = make_draw_function(draws_input);
  if (!executor.run(batch, store, monitor.stop, on_progress)) return std::nullopt;
  BootstrapResult result{.calibration = std::move(prepared.calibration), .settings = settings};
  for (const BootstrapMethod method : settings.methods) {
    result.counts.push_back(
        {.method = method, .draws = draw_count(settings, *draws_input, method), .failure = {}});
  }
  result.blocks = static_cast<int>(draws_input->blocks.size());
  result.left_out = draws_input->leaves_out_blocks ? "block" : "recording";
  estimator::BootstrapDraws draws;
  collect_draws(batch, store, result, draws);
  draws.block_count = result.blocks;
  if (result.blocks > 0) {
    draws.all_blocks = fit_blocks(input, *draws_input, monitor);
    if (is_stop_requested(monitor)) return std::nullopt;
  }
  result.bootstrap = assess_bootstrap(result.calibration, draws);
  add_bootstrap_notes(input, result);
  input.context.wall_time =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

WorkFunction make_bootstrap_function(const std::string& common) {
  const auto fields = parse_work_line(std::string_view(common).substr(0, common.size() - 1));
  rigcal::v1::ProvenanceResult provenance;
  if (!fields || fields->size() != 5 || !provenance.ParseFromString(fields->at(0))) {
    throw proto::InputError("the inputs of the draws are damaged; repeat \"rigcal bootstrap\"");
  }
  BootstrapSettings settings;
  settings.seed = std::strtoull(fields->at(1).c_str(), nullptr, 10);
  settings.block_length = std::strtod(fields->at(2).c_str(), nullptr);
  settings.disc_error = std::strtod(fields->at(3).c_str(), nullptr);
  settings.methods.clear();
  std::istringstream methods(fields->at(4));
  for (int method; methods >> method;) {
    settings.methods.push_back(static_cast<BootstrapMethod>(method));
  }
  CalibrationInput input =
      load_calibration_input(read_stored_request("rigcal bootstrap", provenance));
  return make_draw_function(std::make_shared<const estimator::BootstrapInput>(
      std::move(prepare_bootstrap(input, settings, {}).input)));
}

}  // namespace service
