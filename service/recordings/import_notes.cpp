#include "service/recordings/import_notes.hpp"

#include "service/text/number_format.hpp"

namespace service {

std::vector<std::string> describe_import(const ImportSummary& summary) {
  std::vector<std::string> notes;
  for (const std::string& note : summary.notes) notes.push_back(summary.file + ": " + note);
  if (summary.holes.count > 0) {
    const int all = summary.rows + summary.holes.rows;
    notes.push_back(summary.file + ": " + std::to_string(summary.holes.rows) + " of " +
                    std::to_string(all) + " rows are missing, in " +
                    std::to_string(summary.holes.count) +
                    (summary.holes.count == 1 ? " place" : " places") +
                    "; these rows have no readings, and their commands are interpolated");
  }
  if (!summary.steady_clock) {
    notes.push_back(
        summary.file + ": time stamps deviate by up to " +
        format_number(1e3 * summary.jitter_max * summary.period, 2) + " ms (" +
        format_number(100.0 * summary.jitter_max, 2) +
        " % of a period) from a uniform grid and are used as they are. If sampling was uniform and "
        "only the stamps jitter, raise jitter_tolerance in the rig file's time { }");
  }
  if (!summary.gaps.empty()) {
    const Gap& gap = summary.gaps.front();
    const std::size_t count = summary.gaps.size();
    std::string place = summary.file;
    if (gap.line > 0) place.append(":").append(std::to_string(gap.line));
    notes.push_back(place + ": " + std::to_string(count) +
                    (count == 1 ? " gap" : " gaps, the first") + " of " +
                    format_number(1e3 * gap.duration) + " ms after " + format_number(gap.start, 6) +
                    " s; the recording is split there and the gap is not filled");
  }
  if (summary.dropped_rows > 0) {
    notes.push_back(summary.file + ": " + std::to_string(summary.dropped_rows) +
                    " rows are in segments too short to use");
  }
  return notes;
}

}  // namespace service
