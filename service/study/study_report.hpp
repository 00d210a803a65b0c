#pragma once

#include <string>
#include <vector>

#include "service/study/study_figure.hpp"
#include "service/study/study_run.hpp"

namespace service {

/// A table of a study, as text.
struct StudyTable {
  std::string name;  ///< of its file, without ending
  std::string title;
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< of the header's length; the first cell names it
};

/// What else a study leaves in its folder.
struct StudyFile {
  std::string name;
  std::string text;
};

/// What a study says.
struct StudyReport {
  std::string title;
  bool good = true;
  std::string outcome;  ///< one sentence
  std::vector<StudyTable> tables;
  std::vector<StudyFigure> figures;
  std::vector<std::string> notes;
  std::vector<StudyRun> runs;
  std::vector<StudyFile> files;
};

/// The table for a terminal and for Markdown: cells aligned between bars.
std::string format_table(const StudyTable& table);

/// Writes into a folder: runs.csv (one row a run), histories.csv (one row an iteration), a CSV file
/// for each table, tables.md, an SVG file for each figure, index.html, and the report's files.
/// @return the path of the page
/// @throws InputError naming the file that cannot be written
std::string write_report(const StudyReport& report, const std::string& folder);

}  // namespace service
