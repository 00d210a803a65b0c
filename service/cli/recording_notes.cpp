#include "service/cli/recording_notes.hpp"

#include <ostream>

namespace service {

void print_damage(const proto::McapScan& scan, std::ostream& out) {
  if (!scan.finished) out << "note: the recording is truncated; it was read up to the cut\n";
  if (scan.damaged_chunk_count > 0 || scan.skipped_bytes > 0) {
    out << "note: " << scan.damaged_chunk_count << " damaged chunks skipped, " << scan.skipped_bytes
        << " bytes skipped\n";
  }
  for (const std::string& problem : scan.problems) out << "note: " << problem << '\n';
}

}  // namespace service
