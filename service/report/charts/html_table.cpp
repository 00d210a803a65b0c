#include "service/report/charts/html_table.hpp"

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

HtmlTable::HtmlTable(const std::string& caption, std::vector<Column> columns,
                     const std::string& css_class)
    : columns_(std::move(columns)),
      head_("<div class=\"wide\" tabindex=\"0\"><table" + attribute("class", css_class) +
            ">\n<caption>" + escape_html(caption) + "</caption>\n<thead><tr>") {
  for (const Column& column : columns_) {
    head_ += element_of("th scope=\"col\"", column.title, column.align);
  }
  head_ += "</tr></thead>\n<tbody>\n";
}

HtmlTable::HtmlTable(const std::string& caption, const std::vector<CellAlign>& aligns,
                     const std::vector<std::vector<std::string>>& rows,
                     const std::string& css_class)
    : HtmlTable(caption, columns_of(rows.front(), aligns), css_class) {
  for (std::size_t i = 1; i < rows.size(); ++i) add({rows[i].begin(), rows[i].end()});
}

std::vector<HtmlTable::Column> HtmlTable::columns_of(const std::vector<std::string>& titles,
                                                     const std::vector<CellAlign>& aligns) {
  std::vector<Column> columns;
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
    align_numbers(numbers, "\u2007", "\u2008");  // spaces as wide as a digit and a full stop
  }
  std::string html = head_;
  for (const std::vector<HtmlCell>& row : rows) {
    html += "<tr>";
    for (std::size_t k = 0; k < row.size(); ++k) {
      const Column& column = columns_[k];
      html += k == 0 ? element_of("th scope=\"row\"", row[k], column.align)
                     : element_of("td", row[k], column.align,
                                  column.title.is_html ? "" : column.title.text);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::vector<HtmlTable::Column> text_and_number_columns(const std::vector<std::string>& titles,
                                                       std::size_t texts) {
  std::vector<HtmlTable::Column> columns;
  for (const std::string& title : titles) {
    columns.push_back({title, columns.size() < texts ? CellAlign::kLeft : CellAlign::kRight});
  }
  return columns;
}

}  // namespace service
