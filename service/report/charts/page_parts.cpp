#include "service/report/charts/page_parts.hpp"

#include <fmt/core.h>

#include "service/messages/parameter_meaning.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

std::string attribute(const char* name, const std::string& value) {
  std::string text;
  if (!value.empty()) text.append(" ").append(name).append("=\"").append(value).append("\"");
  return text;
}

/// Returns the HTML of a table cell.
/// @param element  "td", or "th" with its scope
/// @param title    title of the column, shown beside the cell on a narrow page
std::string element_of(const std::string& element, const HtmlCell& cell, CellAlign align,
                       const std::string& title = "") {
  static const char* const kClasses[] = {"", "number", "words"};
  std::string css = kClasses[static_cast<int>(align)];
  if (!cell.css_class.empty()) css += (css.empty() ? "" : " ") + cell.css_class;
  std::string html = "<";
  html.append(element).append(attribute("class", css)).append(attribute("style", cell.style));
  html.append(attribute("data-title", escape_html(title)));
  html.append(">").append(cell.is_html ? cell.text : escape_html(cell.text));
  return html.append("</").append(element.substr(0, 2)).append(">");
}

}  // namespace

std::string render_html_page(const std::string& title, const std::string& body) {
  const bool has_figures = body.find(kFigureData) != std::string::npos;
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n{}{}</body>\n</html>\n",
      escape_html(title), has_figures ? chart_style_sheet() : "", page_style_sheet(), body,
      has_figures ? page_script_elements() : "");
}

std::string format_origin_line(const std::string& date, const std::string& version,
                               const std::string& operator_name) {
  constexpr std::size_t kMinutes = 16;  // "2026-11-22T20:15"
  std::string text = date.substr(0, kMinutes);
  if (const std::size_t t = text.find('T'); t != std::string::npos) text[t] = ' ';
  if (!text.empty()) text += " UTC · ";
  text += "rigcal " + version;
  return operator_name.empty() ? text : text + " · operator " + operator_name;
}

std::string render_report_heading(const std::string& title, const std::string& origin, bool good,
                                  const std::string& outcome) {
  return "<h1>" + escape_html(title) + "</h1>\n<p class=\"quiet\">" + escape_html(origin) +
         "</p>\n<p class=\"verdict" + (good ? "\">" : " warn\">") + escape_html(outcome) + "</p>\n";
}

std::string render_report_heading(const std::string& title, const CalibrationMetadata& context,
                                  bool good, const std::string& outcome) {
  return render_report_heading(
      title, format_origin_line(context.date, context.version, context.request.operator_name), good,
      outcome);
}

std::string render_parameter_name(const estimator::Mechanism& mechanism, const std::string& name) {
  const std::string meaning = describe_parameter(mechanism, name);
  if (meaning.empty()) return escape_html(name);
  return "<abbr title=\"" + escape_html(meaning) + "\">" + escape_html(name) + "</abbr>";
}

std::string render_name_legend(const estimator::Mechanism& mechanism,
                               const std::vector<std::string>& names) {
  std::string html;
  for (const std::string& name : names) {
    const std::string meaning = describe_parameter(mechanism, name);
    if (meaning.empty()) continue;
    html += "<li><b>" + escape_html(name) + "</b>: " + escape_html(meaning) + "</li>\n";
  }
  return html.empty() ? "" : "<ul class=\"names\">\n" + html + "</ul>\n";
}

std::string render_input_section(const CalibrationMetadata& context) {
  HtmlTable table(
      "SHA-256 shows whether a file is unchanged",
      {{"file", CellAlign::kWords}, {"bytes", CellAlign::kRight}, {"SHA-256", CellAlign::kWords}});
  const auto add = [&](const std::string& name, const FileDigest& mark) {
    const bool known = !mark.sha256.empty();
    table.add({name, known ? std::to_string(mark.size_bytes) : "-",
               HtmlCell(known ? mark.sha256 : "not a file").set_css_class("hash")});
  };
  const CalibrationRequest& request = context.request;
  if (!request.rig_text.empty()) add(request.rig_name, compute_text_digest(request.rig_text));
  for (const UsedRecording& use : context.recordings) add(use.summary.file, use.mark);
  return "<section><h2>Files</h2>\n" + table.html() + "</section>\n";
}

std::string render_paragraph(const std::string& text) {
  return "<p>" + escape_html(text) + "</p>\n";
}

std::string render_folded_section(const std::string& title, const std::string& html) {
  return "<details><summary>" + title + "</summary>\n" + html + "</details>\n";
}

std::string render_summary_box(const std::string& name, const std::string& value) {
  return "<div>" + escape_html(name) + "<b>" + escape_html(value) + "</b></div>\n";
}

std::string render_list_section(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string html = "<section><h2>" + title + "</h2><ul>\n";
  for (const std::string& item : items) html += "<li>" + escape_html(item) + "</li>\n";
  return html + "</ul></section>\n";
}

std::string recording_title(const UsedRecording& use) {
  const std::string& scenario = use.summary.scenario;
  const bool reported = scenario.empty() || use.summary.file.find(scenario) != std::string::npos;
  return reported ? use.summary.file : use.summary.file + " (" + scenario + ")";
}

HtmlTable::HtmlTable(const std::string& caption, std::vector<TableColumn> columns,
                     const std::string& css_class)
    : columns_(std::move(columns)),
      head_("<div class=\"wide\" tabindex=\"0\"><table" + attribute("class", css_class) +
            ">\n<caption>" + escape_html(caption) + "</caption>\n<thead><tr>") {
  for (const TableColumn& column : columns_) {
    head_ += element_of("th scope=\"col\"", column.title, column.align);
  }
  head_ += "</tr></thead>\n<tbody>\n";
}

HtmlTable::HtmlTable(const std::string& caption, const std::vector<CellAlign>& aligns,
                     const std::vector<std::vector<std::string>>& rows,
                     const std::string& css_class)
    : HtmlTable(caption, make_columns(rows.front(), aligns), css_class) {
  for (std::size_t i = 1; i < rows.size(); ++i) add({rows[i].begin(), rows[i].end()});
}

std::vector<HtmlTable::TableColumn> HtmlTable::make_columns(const std::vector<std::string>& titles,
                                                            const std::vector<CellAlign>& aligns) {
  std::vector<TableColumn> columns;
  for (std::size_t k = 0; k < titles.size(); ++k) columns.push_back({titles[k], aligns[k]});
  return columns;
}

std::string HtmlTable::html() const {
  std::vector<std::vector<HtmlCell>> rows = rows_;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    std::vector<std::string*> numbers;
    for (std::vector<HtmlCell>& row : rows) {
      if (columns_[k].align != CellAlign::kRight || k >= row.size() || row[k].is_html) continue;
      if (!row[k].text.empty()) numbers.push_back(&row[k].text);
    }
    align_decimal_points(numbers, "\u2007", "\u2008");  // spaces as wide as a digit and a full stop
  }
  std::string html = head_;
  for (const std::vector<HtmlCell>& row : rows) {
    html += "<tr>";
    for (std::size_t k = 0; k < row.size(); ++k) {
      const TableColumn& column = columns_[k];
      html += k == 0 ? element_of("th scope=\"row\"", row[k], column.align)
                     : element_of("td", row[k], column.align,
                                  column.title.is_html ? "" : column.title.text);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::vector<HtmlTable::TableColumn> make_text_and_number_columns(
    const std::vector<std::string>& titles, std::size_t texts) {
  std::vector<HtmlTable::TableColumn> columns;
  for (const std::string& title : titles) {
    columns.push_back({title, columns.size() < texts ? CellAlign::kLeft : CellAlign::kRight});
  }
  return columns;
}

}  // namespace service
