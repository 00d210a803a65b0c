#include "service/result/provenance_message.hpp"

#include <google/protobuf/stubs/common.h>

#include <Eigen/Core>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <string_view>

#include "proto/text/input_error.hpp"
#include "service/options/option_message.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

#if defined(__aarch64__)
constexpr const char* kProcessor = "aarch64";
#elif defined(__x86_64__)
constexpr const char* kProcessor = "x86_64";
#else
constexpr const char* kProcessor = "another processor";
#endif

#ifdef NDEBUG
constexpr const char* kAssertions = "release";
#else
constexpr const char* kAssertions = "with assertions";
#endif

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

/// Returns a description of the build properties that can change the last digits of results.
std::string describe_build() {
  return std::string(kProcessor) + ", " + kAssertions + ", compiler " + __VERSION__ + ", Eigen " +
         dotted(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION) + ", Protobuf " +
         dotted(GOOGLE_PROTOBUF_VERSION / 1000000, GOOGLE_PROTOBUF_VERSION / 1000 % 1000,
                GOOGLE_PROTOBUF_VERSION % 1000);
}

std::time_t seconds_now() {
  const char* const stored = std::getenv("SOURCE_DATE_EPOCH");
  if (stored == nullptr || *stored == '\0') return std::time(nullptr);
  const std::string_view text = stored;
  constexpr long long kYear10000 = 253402300800;  // later years have five digits
  long long seconds = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (fault != std::errc() || end != text.data() + text.size() || seconds < 0 ||
      seconds >= kYear10000) {
    throw proto::InputError("SOURCE_DATE_EPOCH: \"" + std::string(text) +
                            "\" is not a number of seconds since 1970. Correct or unset it");
  }
  return static_cast<std::time_t>(seconds);
}

void add_mark(const FileDigest& mark, v1::SourceResult* out) {
  out->set_sha256(mark.sha256);
  out->set_size_bytes(mark.size_bytes);
}

void add_source(const RecordingSource& source, const FileDigest& mark, v1::SourceResult* out) {
  out->set_path(source.origin.empty() ? source.path : source.origin);
  out->set_name(source.name);
  add_mark(mark, out);
  out->set_from_s(source.selection.from);
  out->set_to_s(source.selection.to);
  for (const int segment : source.selection.segments) out->add_segments(segment);
}

void add_values(const ParameterValues& values, v1::ProvenanceResult* out) {
  if (values.file.empty()) return;
  out->mutable_values_file()->set_path(values.file);
  add_mark(values.mark, out->mutable_values_file());
  for (const ParameterValues::Entry& entry : values.entries) {
    v1::ValueResult* value = out->add_values();
    value->set_name(entry.name);
    value->set_value(entry.value);
    value->set_unit(entry.unit);
  }
}

void assign(const std::vector<std::string>& texts,
            google::protobuf::RepeatedPtrField<std::string>* out) {
  out->Assign(texts.begin(), texts.end());
}

std::vector<std::string> texts_of(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

[[noreturn]] void fail(const std::string& file, const std::string& field, const std::string& what) {
  throw proto::InputError(file + ": provenance." + field + ": " + what);
}

RecordingSource source_of(const std::string& file, int index, const v1::SourceResult& stored) {
  RecordingSource source;
  source.path = stored.path();
  source.name = stored.name();
  source.selection.from = stored.from_s();
  source.selection.to = stored.to_s();
  source.selection.segments = {stored.segments().begin(), stored.segments().end()};
  if (!(stored.from_s() < stored.to_s())) {
    fail(file, "recordings[" + std::to_string(index) + "]", "fromS must be less than toS");
  }
  return source;
}

}  // namespace

std::string utc_date() {
  const std::time_t now = seconds_now();
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, std::size(text), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

void add_provenance(const CalibrationContext& context, v1::ProvenanceResult* out) {
  const CalibrationRequest& request = context.request;
  out->set_date(context.date);
  out->set_command(context.command);
  out->set_version(context.version);
  out->set_build(describe_build());
  out->mutable_rig()->set_path(request.rig_name);
  add_mark(digest_text(request.rig_text), out->mutable_rig());
  out->set_rig_text(request.rig_text);
  for (std::size_t i = 0; i < request.recordings.size() && i < context.recordings.size(); ++i) {
    add_source(request.recordings[i], context.recordings[i].mark, out->add_recordings());
  }
  add_values(request.values, out);
  assign(request.edits.start, out->mutable_start());
  assign(request.edits.free, out->mutable_free());
  assign(request.edits.fix, out->mutable_fix());
  assign(request.edits.hold_out, out->mutable_hold_out());
  *out->mutable_options() = options_message(request.options, true);
}

CalibrationRequest stored_request(const std::string& file, const v1::ProvenanceResult& provenance) {
  CalibrationRequest request;
  request.rig_name = file + ": rig text of " + provenance.rig().path();
  request.rig_text = provenance.rig_text();
  if (provenance.has_values_file()) request.values.file = file;
  for (int i = 0; i < provenance.values_size(); ++i) {
    const v1::ValueResult& value = provenance.values(i);
    const std::string field = "values[" + std::to_string(i) + "]";
    if (!std::isfinite(value.value())) fail(file, field + ".value", "is not a finite number");
    request.values.entries.push_back(
        {"provenance." + field, value.name(), value.unit(), value.value()});
  }
  request.edits = {texts_of(provenance.start()), texts_of(provenance.free()),
                   texts_of(provenance.fix()), texts_of(provenance.hold_out())};
  for (int i = 0; i < provenance.recordings_size(); ++i) {
    request.recordings.push_back(source_of(file, i, provenance.recordings(i)));
  }
  request.options = read_options(provenance.options(), file + ": provenance.options", true);
  return request;
}

}  // namespace service
