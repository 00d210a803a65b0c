#include "service/server/batch_check.hpp"

#include <algorithm>
#include <set>

#include "proto/recording/convert.hpp"

namespace service {
namespace {

template <typename Messages>
bool readable(const Messages& messages) {
  return std::all_of(messages.begin(), messages.end(),
                     [](const auto& message) { return proto::from_message(message).has_value(); });
}

}  // namespace

std::optional<std::string> BatchCheck::take(const rigcal::v1::SampleBatch& batch) {
  const std::string where = "batch " + std::to_string(batch.batch_sequence()) + ": ";
  std::optional<std::uint64_t> last = last_sequence_;
  for (const rigcal::v1::Sample& message : batch.samples()) {
    const auto sample = proto::from_message(message);
    const std::string which = where + "sample " + std::to_string(message.sequence());
    if (!sample) {
      return which + " is not one: a number is not finite or its arrays differ in length";
    }
    if (sample->channel_count != hinge_count_) {
      return which + " has " + std::to_string(sample->channel_count) +
             " channels, but the session's metadata names " + std::to_string(hinge_count_) +
             " hinges";
    }
    if (last && sample->sequence <= *last) {
      return which + " follows sample " + std::to_string(*last) + "; sequences only rise";
    }
    last = sample->sequence;
  }
  if (!readable(batch.commands()) || !readable(batch.gaps()) || !readable(batch.events()) ||
      !readable(batch.clock_fits()) || !readable(batch.loop_stats())) {
    return where + "holds a message with a number that is not finite";
  }
  last_sequence_ = last;
  return std::nullopt;
}

std::vector<std::string> session_hinges(const std::string& names) {
  std::vector<std::string> hinges;
  std::size_t begin = 0;
  while (begin <= names.size()) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    hinges.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::set<std::string> different(hinges.begin(), hinges.end());
  const bool fine = hinges.size() <= proto::kChannelCountMax && different.size() == hinges.size() &&
                    !different.contains("");
  return fine ? hinges : std::vector<std::string>();
}

}  // namespace service
