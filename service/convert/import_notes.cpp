#include "service/convert/import_notes.hpp"

#include "service/report/number_format.hpp"

namespace service {

std::vector<std::string> describe_import(const ImportSummary& summary) {
  std::vector<std::string> notes;
  for (const std::string& note : summary.notes) notes.push_back(summary.file + ": " + note);
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
