#include "tests/studies/runs/study_report.hpp"

#include <algorithm>
#include <filesystem>

#include "proto/text/files.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/result/result_message.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"
#include "tests/studies/runs/run_csv.hpp"

namespace service {
namespace {

std::string padded(const std::string& text, int width, bool right) {
  const std::string space(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  return right ? space + text : text + space;
}

std::string table_html(const StudyTable& table) {
  HtmlTable html(table.caption, make_text_and_number_columns(table.header, 1), "dense");
  for (const std::vector<std::string>& row : table.rows) html.add({row.begin(), row.end()});
  return "<section><h2>" + escape_html(table.title) + "</h2>\n" + html.html() + "</section>\n";
}

std::string table_csv(const StudyTable& table) {
  std::string csv = format_csv_row(table.header);
  for (const std::vector<std::string>& row : table.rows) csv += format_csv_row(row);
  return csv;
}

}  // namespace

std::string format_table(const StudyTable& table) {
  std::vector<int> widths(table.header.size(), 3);
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  };
  widen(table.header);
  for (const std::vector<std::string>& row : table.rows) widen(row);
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text = "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += ' ';
      text += padded(row[i], widths[i], i > 0);
      text += " |";
    }
    return text + "\n";
  };
  std::string text = line(table.header) + "|";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string dashes(static_cast<std::size_t>(widths[i] + 1), '-');
    text += i == 0 ? ":" : "";
    text += dashes;
    text += i == 0 ? "|" : ":|";
  }
  text += "\n";
  for (const std::vector<std::string>& row : table.rows) text += line(row);
  return text;
}

std::string write_report(const StudyReport& report, const std::string& folder) {
  const std::filesystem::path out(folder);
  std::string markdown;
  std::string page =
      render_report_heading(report.title, format_origin_line(current_utc_time(), RIGCAL_VERSION),
                            report.good, report.outcome);
  for (const Figure& figure : report.figures) {
    proto::write_file((out / (figure.name + ".svg")).string(), figure_file(figure));
    page += figure_html(figure);
  }
  for (const StudyTable& table : report.tables) {
    proto::write_file((out / (table.name + ".csv")).string(), table_csv(table));
    markdown += "**" + table.title + ".** " + table.caption + "\n\n" + format_table(table) + "\n";
    page += table_html(table);
  }
  page += render_list_section("Notes", report.notes);
  proto::write_file((out / "tables.md").string(), markdown);
  proto::write_file((out / "runs.csv").string(), runs_csv(report.runs));
  proto::write_file((out / "histories.csv").string(), histories_csv(report.runs));
  for (const StudyFile& file : report.files) {
    proto::write_file((out / file.name).string(), file.text);
  }
  const std::string path = (out / "index.html").string();
  proto::write_file(path, render_html_page(report.title, page));
  return path;
}

}  // namespace service
