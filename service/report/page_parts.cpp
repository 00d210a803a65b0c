#include "service/report/page_parts.hpp"

#include "service/report/chart_figure.hpp"
#include "service/report/page_scripts.hpp"
#include "service/report/page_style.hpp"
#include "service/report/svg_chart.hpp"

namespace service {
std::string html_page(const std::string& title, const std::string& body) {
  const bool has_figures = body.find(kFigureData) != std::string::npos;
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escape_html(title) + "</title>\n<style>" + page_style() + "</style>\n</head>\n<body>\n" +
         body + (has_figures ? page_scripts() : "") + "</body>\n</html>\n";
}

std::string heading(const std::string& title, const std::string& version, bool good,
                    const std::string& outcome) {
  return "<h1>" + escape_html(title) + "</h1>\n<p class=\"quiet\">rigcal " + escape_html(version) +
         "</p>\n<p" + (good ? ">" : " class=\"warn\">") + escape_html(outcome) + "</p>\n";
}

std::string fact(const std::string& name, const std::string& value) {
  return "<div>" + escape_html(name) + "<b>" + escape_html(value) + "</b></div>\n";
}

std::string number_cell(const std::string& text) {
  return "<td class=\"number\">" + escape_html(text) + "</td>";
}

std::string list_section(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string html = "<section><h2>" + title + "</h2><ul>\n";
  for (const std::string& item : items) html += "<li>" + escape_html(item) + "</li>\n";
  return html + "</ul></section>\n";
}

std::string recording_title(const RecordingUse& use) {
  const std::string& scenario = use.summary.scenario;
  const bool told = scenario.empty() || use.summary.file.find(scenario) != std::string::npos;
  return told ? use.summary.file : use.summary.file + " (" + scenario + ")";
}

}  // namespace service
