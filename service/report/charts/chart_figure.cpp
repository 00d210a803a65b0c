#include "service/report/charts/chart_figure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "service/report/charts/embedded_data.hpp"
#include "service/text/comma_list.hpp"

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
    const std::vector<std::size_t> own = decimate(rows.x, column, static_cast<int>(columns));
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
  return fmt::format(R"({{"name":{},"data":{}}})", json_string(name), data);
}

/// Describes a chart as JSON. The data of its series are in the columns from `column` on.
std::string chart_json(const Chart& chart, std::size_t& column) {
  std::vector<std::string> series, marks;
  for (const ChartSeries& one : chart.series) {
    series.push_back(fmt::format(R"({{"column":{},"label":{},"style":{},"points":{},"aside":{}}})",
                                 column++, json_string(one.label), json_string(one.css_class),
                                 one.markers, one.excluded_from_range));
  }
  for (const ChartMark& mark : chart.marks) {
    marks.push_back(fmt::format(R"({{"from":{},"to":{},"text":{}}})", json_number(mark.from),
                                json_number(mark.to), json_string(mark.text)));
  }
  return fmt::format(
      R"({{"title":{},"y":{},"height":{},"logX":{},"logY":{},"wholeX":{},"series":[{}],"marks":[{}]}})",
      json_string(chart.title), json_string(chart.y_label), chart.height, chart.log_x, chart.log_y,
      chart.integer_x, comma_list(series, {}, ","), comma_list(marks, {}, ","));
}

std::string json_of(const ChartFigure& figure, const ChartRows& rows) {
  std::vector<std::string> columns, charts;
  columns.push_back(column_json(figure.charts.front().x_label, json_spaced(rows.x)));
  std::size_t column = 0;
  for (const Chart& chart : figure.charts) {
    charts.push_back(chart_json(chart, column));
    for (const ChartSeries& series : chart.series) {
      const Column& values = rows.columns[columns.size() - 1];
      columns.push_back(column_json(column_name(chart, series), json_numbers(values)));
    }
  }
  return fmt::format(R"({{"name":{},"united":{},"columns":[{}],"charts":[{}]}})",
                     json_string(figure.name), rows.has_merged_x, comma_list(columns, {}, ","),
                     comma_list(charts, {}, ","));
}

std::string data_element(const std::string& json) { return kFigureData + json + "</script>\n"; }

std::string described(std::size_t rows, std::size_t stretch) {
  std::string text = std::to_string(rows) + (rows == 1 ? " row" : " rows") + " of data";
  if (stretch > 1) {
    text += ", reduced: for every " + std::to_string(stretch) +
            " rows the first, lowest, highest and last of each line";
  }
  return text + ".";
}

std::string caption_of(const ChartFigure& figure) {
  const bool marked =
      std::ranges::any_of(figure.charts, [](const Chart& chart) { return !chart.marks.empty(); });
  return figure.caption + (marked ? " Shaded: findings." : "");
}

}  // namespace

std::string chart_figure(const ChartFigure& figure) {
  const std::vector<const ChartSeries*> all = series_of(figure);
  if (all.empty()) return "";
  ChartRows rows = rows_of(all);
  const std::size_t count = rows.x.size();
  const std::size_t stretch = reduce(rows, figure.rows_max);
  std::string html = "<figure>\n";
  for (const Chart& chart : figure.charts) {
    html += "<div class=\"chart\">" + svg_chart(chart) + "</div>\n";
  }
  return html + "<figcaption>" + escape_html(caption_of(figure)) + " <span class=\"hint\">" +
         described(count, stretch) + "</span></figcaption>\n" +
         data_element(json_of(figure, rows)) + "</figure>\n";
}

std::string data_figure(const std::string& picture, const std::string& name, const std::string& csv,
                        const std::string& caption) {
  return "<figure>\n" + picture + "<figcaption>" + caption + "</figcaption>\n" +
         data_element(
             fmt::format(R"({{"name":{},"csv":{}}})", json_string(name), json_string(csv))) +
         "</figure>\n";
}

}  // namespace service
