#include "service/report/charts/page_parts.hpp"

#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/html_table.hpp"
#include "service/report/charts/svg_chart.hpp"

namespace service {

std::string html_page(const std::string& title, const std::string& body) {
  const bool has_figures = body.find(kFigureData) != std::string::npos;
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escape_html(title) + "</title>\n<style>" + (has_figures ? chart_style() : "") +
         page_style() + "</style>\n</head>\n<body>\n" + body + (has_figures ? page_scripts() : "") +
         "</body>\n</html>\n";
}

std::string origin_line(const std::string& date, const std::string& version,
                        const std::string& operator_name) {
  constexpr std::size_t kMinutes = 16;  // "2026-11-22T20:15"
  std::string text = date.substr(0, kMinutes);
  if (const std::size_t t = text.find('T'); t != std::string::npos) text[t] = ' ';
  if (!text.empty()) text += " UTC · ";
  text += "rigcal " + version;
  return operator_name.empty() ? text : text + " · operator " + operator_name;
}

std::string heading(const std::string& title, const std::string& origin, bool good,
                    const std::string& outcome) {
  return "<h1>" + escape_html(title) + "</h1>\n<p class=\"quiet\">" + escape_html(origin) +
         "</p>\n<p class=\"verdict" + (good ? "\">" : " warn\">") + escape_html(outcome) + "</p>\n";
}

std::string heading(const std::string& title, const CalibrationContext& context, bool good,
                    const std::string& outcome) {
  return heading(title, origin_line(context.date, context.version, context.request.operator_name),
                 good, outcome);
}

std::string origin_section(const CalibrationContext& context) {
  HtmlTable table(
      "SHA-256 shows whether a file is unchanged",
      {{"file", CellAlign::kWords}, {"bytes", CellAlign::kRight}, {"SHA-256", CellAlign::kWords}});
  const auto add = [&](const std::string& name, const FileDigest& mark) {
    const bool known = !mark.sha256.empty();
    table.add({name, known ? std::to_string(mark.size_bytes) : "-",
               HtmlCell(known ? mark.sha256 : "not a file").with_class("hash")});
  };
  const CalibrationRequest& request = context.request;
  if (!request.rig_text.empty()) add(request.rig_name, digest_text(request.rig_text));
  for (const RecordingUse& use : context.recordings) add(use.summary.file, use.mark);
  return "<section><h2>Files</h2>\n" + table.html() + "</section>\n";
}

std::string paragraph(const std::string& text) { return "<p>" + escape_html(text) + "</p>\n"; }

std::string folded_section(const std::string& title, const std::string& html) {
  return "<details><summary>" + title + "</summary>\n" + html + "</details>\n";
}

std::string summary_box(const std::string& name, const std::string& value) {
  return "<div>" + escape_html(name) + "<b>" + escape_html(value) + "</b></div>\n";
}

std::string list_section(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string html = "<section><h2>" + title + "</h2><ul>\n";
  for (const std::string& item : items) html += "<li>" + escape_html(item) + "</li>\n";
  return html + "</ul></section>\n";
}

std::string recording_title(const RecordingUse& use) {
  const std::string& scenario = use.summary.scenario;
  const bool reported = scenario.empty() || use.summary.file.find(scenario) != std::string::npos;
  return reported ? use.summary.file : use.summary.file + " (" + scenario + ")";
}

}  // namespace service
