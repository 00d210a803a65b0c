#pragma once

#include <string>
#include <vector>

#include "service/report/figure.hpp"
#include "tests/studies/runs/study_run.hpp"

namespace service {

/// A table of a study, as text.
struct StudyTable {
  std::string name;  ///< file name without extension
  std::string title;
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>>
      rows;  ///< as long as the header; the first cell is the name
};

/// An additional output file of a study.
struct StudyFile {
  std::string name;
  std::string text;
};

/// Result of a study.
struct StudyReport {
  std::string title;
  bool good = true;
  std::string outcome;  ///< one sentence
  std::vector<StudyTable> tables;
  std::vector<Figure> figures;
  std::vector<std::string> notes;
  std::vector<StudyRun> runs;
  std::vector<StudyFile> files;
};

/// Formats the table for a terminal and as Markdown, with aligned cells.
std::string format_table(const StudyTable& table);

/// Writes a folder: runs.csv (one row per run), histories.csv (one row per iteration), a CSV file
/// per table, tables.md, an SVG file per figure, index.html, and the report's files.
/// @return path of index.html
/// @throws InputError naming the file that cannot be written
std::string write_report(const StudyReport& report, const std::string& folder);

}  // namespace service
