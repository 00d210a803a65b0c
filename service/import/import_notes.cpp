#include "service/import/import_notes.hpp"

#include "service/text/number_format.hpp"

namespace service {

std::vector<std::string> describe_import(const ImportSummary& summary) {
  std::vector<std::string> notes;
  for (const std::string& note : summary.notes) notes.push_back(summary.file + ": " + note);
  if (summary.holes.count > 0) {
    const int all = summary.rows + summary.holes.rows;
    notes.push_back(
        summary.file + ": " + std::to_string(summary.holes.rows) + " of " + std::to_string(all) +
        " rows are missing, in " + std::to_string(summary.holes.count) +
        (summary.holes.count == 1 ? " place" : " places") +
        "; the motion goes on there without readings, with commands drawn through the rows beside");
  }
  if (!summary.steady_clock) {
    notes.push_back(
        summary.file + ": time stamps lie up to " +
        format_number(1e3 * summary.jitter_max * summary.period, 2) + " ms (" +
        format_number(100.0 * summary.jitter_max, 2) +
        " % of a period) from those of a steady clock and are used as they are; if "
        "sampling was steady and the stamps alone jitter, raise jitter_tolerance in the "
        "rig file's time { }");
  }
  if (!summary.gaps.empty()) {
    const Gap& gap = summary.gaps.front();
    const std::size_t count = summary.gaps.size();
    std::string place = summary.file;
    if (gap.line > 0) place.append(":").append(std::to_string(gap.line));
    notes.push_back(place + ": " + std::to_string(count) +
                    (count == 1 ? " gap" : " gaps, the first") + " of " +
                    format_number(1e3 * gap.duration) + " ms after " + format_number(gap.start, 6) +
                    " s; not filled: the recording is split there");
  }
  if (summary.dropped_rows > 0) {
    notes.push_back(summary.file + ": " + std::to_string(summary.dropped_rows) +
                    " rows lie in stretches too short to use");
  }
  return notes;
}

}  // namespace service
