#include "service/report/charts/chart_figure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "service/report/charts/page_parts.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using Column = std::vector<double>;

/// Data of a figure as a table with a column for x and a column for each series.
struct ChartRows {
  Column x;
  std::vector<Column> columns;
  bool has_merged_x = false;  ///< the x values of the series differ: NaN is no gap
};

std::vector<const ChartSeries*> series_of(const ChartFigure& figure) {
  std::vector<const ChartSeries*> all;
  for (const Chart& chart : figure.charts) {
    for (const ChartSeries& series : chart.series) all.push_back(&series);
  }
  return all;
}

Column union_of_x(const std::vector<const ChartSeries*>& all) {
  Column x;
  for (const ChartSeries* series : all) x.insert(x.end(), series->x.begin(), series->x.end());
  std::ranges::sort(x);
  x.erase(std::ranges::unique(x).begin(), x.end());
  return x;
}

Column over(const Column& x, const ChartSeries& series) {
  Column y(x.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t k = 0; k < series.x.size(); ++k) {
    const auto at = std::ranges::lower_bound(x, series.x[k]) - x.begin();
    y[static_cast<std::size_t>(at)] = series.y[k];
  }
  return y;
}

ChartRows rows_of(const std::vector<const ChartSeries*>& all) {
  ChartRows rows;
  rows.x = all.front()->x;
  rows.has_merged_x = std::ranges::any_of(
      all, [&](const ChartSeries* series) { return series->x != all.front()->x; });
  if (rows.has_merged_x) rows.x = union_of_x(all);
  for (const ChartSeries* series : all) {
    rows.columns.push_back(rows.has_merged_x ? over(rows.x, *series) : series->y);
  }
  return rows;
}

/// Removes rows that do not change the look of the lines. Returns the number of original rows per
/// interval.
std::size_t reduce(ChartRows& rows, std::size_t rows_max) {
  if (rows.x.size() <= rows_max) return 1;
  // Per pixel column each series keeps its first, lowest, highest and last value; first and last
  // are common to all series.
  const std::size_t columns = std::max<std::size_t>(1, rows_max / (2 + 2 * rows.columns.size()));
  std::vector<std::size_t> kept;
  for (const Column& column : rows.columns) {
    const std::vector<std::size_t> own =
        select_points_to_draw(rows.x, column, static_cast<int>(columns));
    kept.insert(kept.end(), own.begin(), own.end());
  }
  std::ranges::sort(kept);
  kept.erase(std::ranges::unique(kept).begin(), kept.end());
  const std::size_t stretch = rows.x.size() / columns;
  const auto take = [&](Column& column) {
    Column taken;
    for (const std::size_t k : kept) taken.push_back(column[k]);
    column = std::move(taken);
  };
  take(rows.x);
  for (Column& column : rows.columns) take(column);
  return stretch;
}

/// Returns a column title from the series and the unit of its axis, e.g. "measured 1 [rad]".
std::string column_name(const Chart& chart, const ChartSeries& series) {
  if (!series.column.empty()) return series.column;
  const std::size_t unit = chart.y_label.rfind(" [");
  const std::string what = series.label.empty() ? chart.y_label.substr(0, unit) : series.label;
  return unit == std::string::npos ? what : what + chart.y_label.substr(unit);
}

std::string column_json(const std::string& name, const std::string& data) {
  return fmt::format(R"({{"name":{},"data":{}}})", format_json_string(name), data);
}

/// Describes a chart as JSON. The data of its series are in the columns from `column` on.
std::string chart_json(const Chart& chart, std::size_t& column) {
  std::vector<std::string> series, marks;
  for (const ChartSeries& one : chart.series) {
    series.push_back(fmt::format(R"({{"column":{},"label":{},"style":{},"points":{},"aside":{}}})",
                                 column++, format_json_string(one.label),
                                 format_json_string(one.css_class), one.markers,
                                 one.excluded_from_range));
  }
  for (const ChartHighlight& mark : chart.marks) {
    marks.push_back(fmt::format(R"({{"from":{},"to":{},"text":{},"note":{}}})",
                                format_json_number(mark.from), format_json_number(mark.to),
                                format_json_string(mark.text), mark.is_note));
  }
  return fmt::format(R"({{"title":{},"y":{},"height":{},"logX":{},"logY":{},"wholeX":{},)"
                     R"("series":[{}],"marks":[{}]}})",
                     format_json_string(chart.title), format_json_string(chart.y_label),
                     chart.height, chart.log_x, chart.log_y, chart.integer_x,
                     join_items(series, {}, ","), join_items(marks, {}, ","));
}

std::string json_of(const ChartFigure& figure, const ChartRows& rows) {
  std::vector<std::string> columns, charts;
  columns.push_back(column_json(figure.charts.front().x_label, format_json_axis_values(rows.x)));
  std::size_t column = 0;
  for (const Chart& chart : figure.charts) {
    charts.push_back(chart_json(chart, column));
    for (const ChartSeries& series : chart.series) {
      const Column& values = rows.columns[columns.size() - 1];
      columns.push_back(column_json(column_name(chart, series), format_json_values(values)));
    }
  }
  return fmt::format(R"({{"name":{},"united":{},"columns":[{}],"charts":[{}]}})",
                     format_json_string(figure.name), rows.has_merged_x,
                     join_items(columns, {}, ","), join_items(charts, {}, ","));
}

std::string data_element(const std::string& json) { return kFigureData + json + "</script>\n"; }

std::string described(std::size_t rows, std::size_t stretch) {
  const std::string text = fmt::format("{} {} of data", rows, rows == 1 ? "row" : "rows");
  if (stretch <= 1) return text + ".";
  return fmt::format(
      "{}, reduced: for every {} rows, each line shows the first, lowest, highest and last value.",
      text, stretch);
}

std::string caption_of(const ChartFigure& figure) {
  const bool marked =
      std::ranges::any_of(figure.charts, [](const Chart& chart) { return !chart.marks.empty(); });
  return figure.caption + (marked ? " Shaded: findings." : "");
}

/// Largest count of numbers that are written as text, which is shorter than Base64 for few numbers.
constexpr std::size_t kTextCountMax = 64;
constexpr double kEvenShare = 1e-6;  // of a step
constexpr int kStepDigits = 12;      // more digits of a step are rounding errors

template <typename Bits>
void append(std::string& bytes, Bits bits) {
  for (std::size_t k = 0; k < sizeof bits; ++k) {
    bytes += static_cast<char>(static_cast<unsigned char>(bits >> (8 * k)));
  }
}

std::string packed(const char* key, const std::string& bytes) {
  return fmt::format(R"({{"{}":"{}"}})", key, encode_base64(bytes));
}

std::string listed(const std::vector<double>& values) {
  return fmt::format(R"({{"values":[{}]}})", join_items(values, format_json_number, ","));
}

double step_of(const std::vector<double>& values) {
  const double step = (values.back() - values.front()) / static_cast<double>(values.size() - 1);
  const std::string text = fmt::format("{:.{}g}", step, kStepDigits);
  double rounded = step;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

constexpr int kFileWidth = 960;        // [px]
constexpr int kFileChartHeight = 250;  // [px]

}  // namespace

std::string render_chart_figure(const ChartFigure& figure) {
  const std::vector<const ChartSeries*> all = series_of(figure);
  if (all.empty()) return "";
  ChartRows rows = rows_of(all);
  const std::size_t count = rows.x.size();
  const std::size_t stretch = reduce(rows, figure.rows_max);
  std::string html = "<figure>\n";
  for (const Chart& chart : figure.charts) {
    html += "<div class=\"chart\">" + render_chart(chart) + "</div>\n";
  }
  return html + "<figcaption>" + escape_html(caption_of(figure)) + " <span class=\"hint\">" +
         described(count, stretch) + "</span></figcaption>\n" +
         data_element(json_of(figure, rows)) + "</figure>\n";
}

std::string render_data_figure(const std::string& picture, const std::string& name,
                               const std::string& csv, const std::string& caption) {
  return "<figure>\n" + picture + "<figcaption>" + caption + "</figcaption>\n" +
         data_element(fmt::format(R"({{"name":{},"csv":{}}})", format_json_string(name),
                                  format_json_string(csv))) +
         "</figure>\n";
}

std::string format_json_string(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
      json += fmt::format("\\u{:04x}", code);
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string format_json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

bool is_evenly_spaced(const std::vector<double>& values) {
  if (values.size() < 2) return false;
  const double step = step_of(values);
  if (!(step > 0.0)) return false;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double even = values.front() + static_cast<double>(k) * step;
    if (!(std::abs(values[k] - even) <= kEvenShare * step)) return false;
  }
  return true;
}

std::string format_json_axis_values(const std::vector<double>& values) {
  if (values.size() <= kTextCountMax) return listed(values);
  if (is_evenly_spaced(values)) {
    return fmt::format(R"({{"from":{},"step":{},"count":{}}})", format_json_number(values.front()),
                       format_json_number(step_of(values)), values.size());
  }
  std::string bytes;
  for (const double value : values) append(bytes, std::bit_cast<std::uint64_t>(value));
  return packed("f64", bytes);
}

std::string format_json_values(const std::vector<double>& values) {
  if (values.size() <= kTextCountMax) return listed(values);
  std::string bytes;
  for (const double value : values) {
    append(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }
  return packed("f32", bytes);
}

std::string encode_base64(const std::string& bytes) {
  static constexpr char kLetters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
    };
    const std::uint32_t three = byte(k) << 16U | byte(k + 1) << 8U | byte(k + 2);
    for (std::size_t letter = 0; letter < 4; ++letter) {
      const bool padding = k + letter > bytes.size();
      text += padding ? '=' : kLetters[three >> (18U - 6U * letter) & 0x3FU];
    }
  }
  return text;
}

std::string render_svg_file(const std::string& title, int width, int height,
                            const std::string& content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"system-ui, 'DejaVu Sans', sans-serif\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-label=\"{2}\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<rect width=\"100%\" height=\"100%\" style=\"fill: var(--paper)\"/>\n{4}</svg>\n",
      width, height, escape_html(title), page_style_sheet(), content);
}

std::string render_chart_file(const std::string& title, std::vector<Chart> charts) {
  std::string content;
  int top = 0;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    Chart& chart = charts[i];
    chart.width = kFileWidth;
    chart.height = kFileChartHeight;
    if (charts.size() > 1) {
      chart.title = fmt::format("({}) {}", static_cast<char>('a' + i), chart.title);
    }
    content += fmt::format("<g transform=\"translate(0,{})\">\n{}</g>\n", top,
                           render_chart_elements(chart));
    top += kFileChartHeight;
  }
  return render_svg_file(title, kFileWidth, top, content);
}

std::string series_css_class(std::size_t index) {
  return "series-" + std::to_string(index % 6 + 1);
}

MarkerShape series_marker_shape(std::size_t index) {
  constexpr MarkerShape kShapes[] = {MarkerShape::kCircle, MarkerShape::kSquare,
                                     MarkerShape::kTriangle, MarkerShape::kDiamond};
  return kShapes[index % 4];
}

}  // namespace service
