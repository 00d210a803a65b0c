#pragma once

#include <string>
#include <utility>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

// HTML fragments shared by the reports. Texts are escaped.

/// Returns a complete HTML page with this body, without external resources. The page includes the
/// chart scripts if the body has figures.
std::string render_html_page(const std::string& title, const std::string& body);

/// Formats date, version and operator as a line, e.g. "2026-11-22 20:15 UTC · rigcal 1.2.3 ·
/// operator Ada".
/// @param date           date and time as in results, e.g. "2026-11-22T20:15:00Z"
/// @param operator_name  name of the operator; empty if unknown
std::string format_origin_line(const std::string& date, const std::string& version,
                               const std::string& operator_name = "");

/// Returns the HTML heading of a report, with title, origin line and outcome. The outcome has the
/// warning colour unless `good` is true.
std::string render_report_heading(const std::string& title, const std::string& origin, bool good,
                                  const std::string& outcome);
std::string render_report_heading(const std::string& title, const CalibrationMetadata& context,
                                  bool good, const std::string& outcome);

/// Returns the HTML of a parameter's name, with its meaning as a tooltip.
/// @param mechanism  the name of a parameter that it does not contain gets no tooltip
std::string render_parameter_name(const estimator::Mechanism& mechanism, const std::string& name);

/// Returns an HTML list with the meanings of parameter names. Names without a known meaning are
/// omitted; empty if no name has a meaning.
std::string render_name_legend(const estimator::Mechanism& mechanism,
                               const std::vector<std::string>& names);

/// Returns an HTML section that lists the input files of a result, with digests to check that the
/// files are unchanged.
std::string render_input_section(const CalibrationMetadata& context);

/// Returns the HTML of a paragraph of text.
std::string render_paragraph(const std::string& text);

/// Returns an HTML section that is folded until the reader opens it.
/// @param html  the content of the section
std::string render_folded_section(const std::string& title, const std::string& html);

/// Returns the HTML of a summary box with a name and a value.
std::string render_summary_box(const std::string& name, const std::string& value);

/// Returns an HTML section with a list of items; empty if there are no items.
std::string render_list_section(const std::string& title, const std::vector<std::string>& items);

/// Returns the title of a recording: its file name, and its scenario unless the file name contains
/// the name of the scenario.
std::string recording_title(const UsedRecording& use);

/// Returns the style sheet of HTML reports (web/page.css). Pages are light or dark according to the
/// browser's setting, and light on paper. Colours are from the colour-blind-safe set of Okabe and
/// Ito.
const std::string& page_style_sheet();

/// Returns uPlot's style sheet for interactive charts.
const std::string& chart_style_sheet();

/// Returns the HTML script elements that make figures interactive: uPlot with its licence, and the
/// script web/charts.js. They need no external resources.
const std::string& page_script_elements();

/// Alignment of the cells of a table column.
enum class CellAlign {
  kLeft,
  kRight,  ///< right-aligned, for numbers
  kWords,  ///< left-aligned with line breaks, for sentences and names
};

/// Cell of an HTML table. It contains HTML or plain text, whose special characters are escaped.
struct HtmlCell {
  HtmlCell(const char* plain) : text(plain) {}             // NOLINT: a text is a cell
  HtmlCell(std::string plain) : text(std::move(plain)) {}  // NOLINT
  static HtmlCell from_html(std::string html) {
    HtmlCell cell(std::move(html));
    cell.is_html = true;
    return cell;
  }
  HtmlCell& set_css_class(const std::string& css) { return css_class = css, *this; }
  HtmlCell& set_css_style(const std::string& css) { return style = css, *this; }

  std::string text;
  bool is_html = false;
  std::string css_class = {};
  std::string style = {};
};

/// Builder of an HTML table. On a narrow page, each row is shown as a list of cells with their
/// column titles. A table of class "matrix" can be scrolled horizontally instead.
class HtmlTable {
 public:
  struct TableColumn {
    HtmlCell title;
    CellAlign align = CellAlign::kLeft;
  };

  /// Starts a table with these columns.
  /// @param caption    text above the table
  /// @param css_class  CSS class of the table
  HtmlTable(const std::string& caption, std::vector<TableColumn> columns,
            const std::string& css_class = "");

  /// Makes a table of texts. The first row has the titles of the columns.
  HtmlTable(const std::string& caption, const std::vector<CellAlign>& aligns,
            const std::vector<std::vector<std::string>>& rows, const std::string& css_class = "");

  /// Adds a row to the table. The first cell is the heading of the row.
  void add(std::vector<HtmlCell> cells) { rows_.push_back(std::move(cells)); }

  /// Returns the HTML of the table. Numbers of a right-aligned column are aligned at their decimal
  /// points.
  std::string html() const;

 private:
  static std::vector<TableColumn> make_columns(const std::vector<std::string>& titles,
                                               const std::vector<CellAlign>& aligns);

  std::vector<TableColumn> columns_;
  std::vector<std::vector<HtmlCell>> rows_;
  std::string head_;
};

/// Returns table columns with these titles. The first `texts` columns are left-aligned for text,
/// the remaining ones right-aligned for numbers.
std::vector<HtmlTable::TableColumn> make_text_and_number_columns(
    const std::vector<std::string>& titles, std::size_t texts);

}  // namespace service
