#pragma once

#include <string>
#include <vector>

#include "tests/studies/runs/study_figures.hpp"
#include "tests/studies/runs/study_run.hpp"

namespace service {

/// Table of a study's report, with texts as cells.
struct StudyTable {
  std::string name;  ///< file name without extension
  std::string title;
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>>
      rows;  ///< as long as the header; the first cell is the name
};

/// Additional output file of a study.
struct StudyFile {
  std::string name;
  std::string text;
};

/// Report on the results of a study.
struct StudyReport {
  std::string title;
  bool good = true;
  std::string outcome;  ///< result of the study in one sentence
  std::vector<StudyTable> tables;
  std::vector<Figure> figures;
  std::vector<std::string> notes;
  std::vector<StudyRun> runs;
  std::vector<StudyFile> files;
};

/// Formats a table with aligned columns, for terminals and Markdown.
std::string format_table(const StudyTable& table);

/// Writes the report into a folder: runs.csv (a row per run), histories.csv (a row per iteration),
/// a CSV file per table, tables.md, an SVG file per figure, index.html, and the report's additional
/// files.
/// @return path of index.html
/// @throws InputError naming the file that cannot be written
std::string write_report(const StudyReport& report, const std::string& folder);

}  // namespace service
