#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "service/report/charts/svg_forest.hpp"
#include "service/report/charts/svg_matrix.hpp"
#include "service/report/sections/short_names.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

/// The plot of one parameter, whose only piece is as far from it as requested.
std::string forest_of(double value, double half_width) {
  estimator::ParameterEstimate estimate;
  estimate.name = "B.m";
  estimate.unit = "kg";
  estimate.value = value;
  estimate.half_interval = half_width;
  estimator::PartEstimate piece;
  piece.values = Eigen::VectorXd::Constant(1, value);
  piece.standard_deviations = Eigen::VectorXd::Constant(1, half_width / 2.0);
  return svg_forest({piece}, {"all"}, {estimate}, {0});
}

// A tick at either end of an axis has its text inside the picture, which is clipped, and clear of
// its neighbours. A single tick would show no scale.
TEST(ForestPicture, KeepsTheTextsOfTicksInside) {
  const std::string tick =
      "<text (x=\"[-0-9.]+\" y=\"[0-9.]+\") text-anchor=\"middle\" class=\"tick\">";
  for (const double half_width : {0.92e-4, 1.0e-4, 1.3e-4, 1.0e-3, 4.2e-2, 0.5}) {
    const std::string html = forest_of(0.0, half_width);
    const std::vector<std::string> places = matches(html, tick);
    EXPECT_GE(places.size(), 2U) << html;
    double taken = 0.0;
    for (const std::string& place : places) {
      const double x = std::stod(place.substr(3));
      const std::size_t begin = html.find('>', html.find(place)) + 1;
      const std::string text = html.substr(begin, html.find('<', begin) - begin);
      const double half = 3.5 * static_cast<double>(text.size());  // [px]
      EXPECT_GE(x - half, taken) << text;
      EXPECT_LE(x + half, 192.0) << text;
      taken = x + half;
    }
  }
}

// Session names hold a subject and a time: a shortened name must keep both ends.
TEST(ForestPicture, NamesStayDistinct) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(short_names({"run.csv", "run.csv", "other.csv"}, 15),
            (Names{"run.csv", "run.csv", "other.csv"}));
  EXPECT_EQ(short_names({"release-1795264085799221042", "release-1795264085799221999",
                         "release-1795264085799221042"},
                        15),
            (Names{"release…9221042", "release…9221999", "release…9221042"}));
  EXPECT_EQ(short_names({"multisine-1795264085799221042", "chirp-1795264085799221042"}, 15),
            (Names{"multisi…9221042", "chirp-1…9221042"}));
  // Equal at both ends: numbered.
  EXPECT_EQ(short_names({"long-name-of-one-run.csv", "short.csv", "long-name-of-two-run.csv"}, 12),
            (Names{"recording 1", "recording 2", "recording 3"}));
  // Multi-byte characters stay whole.
  EXPECT_EQ(short_names({"äöüäöüäöüäöü"}, 5), (Names{"äö…öü"}));
}

std::string matrix_of(int size) {
  std::vector<std::string> names;
  for (int k = 0; k < size; ++k) names.push_back("p" + std::to_string(k));
  return svg_correlation(Eigen::MatrixXd::Identity(size, size), names);
}

/// Rows of each band.
std::vector<std::size_t> bands_of(int size) {
  const std::string html = matrix_of(size);
  std::vector<std::size_t> bands;
  for (std::size_t at = 0; (at = html.find("<div><svg", at)) != std::string::npos; ++at) {
    const std::string band = html.substr(at, html.find("</div>", at) - at);
    bands.push_back(matches(band, "(text-anchor=\"end\")").size());
  }
  return bands;
}

// On paper a block without page breaks must be far shorter than half a page. A large matrix is
// split into bands of about equal numbers of rows, each with the column names above.
TEST(CorrelationMatrix, BreaksBetweenBandsOfRows) {
  using Bands = std::vector<std::size_t>;
  EXPECT_EQ(bands_of(2), Bands{2});
  EXPECT_EQ(bands_of(5), Bands{5});
  EXPECT_EQ(bands_of(6), (Bands{3, 3}));
  EXPECT_EQ(bands_of(8), (Bands{4, 4}));
  EXPECT_EQ(bands_of(9), (Bands{3, 3, 3}));
  EXPECT_EQ(bands_of(17), (Bands{3, 3, 4, 3, 4}));
  EXPECT_EQ(matches(matrix_of(5), "(class=\"again\")").size(), 0U);
  EXPECT_EQ(matches(matrix_of(17), "(class=\"again\")").size(), 4U);
  EXPECT_EQ(matches(matrix_of(17), "(>1.00</text>)").size(), 17U);
  EXPECT_EQ(matches(matrix_of(17), "(<rect)").size(), 17U * 17U);
  EXPECT_EQ(matches(matrix_of(9), "(rotate\\(-90\\))").size(), 3U * 9U);
}

TEST(CorrelationMatrix, HasNoSignOnZero) {
  Eigen::MatrixXd small = Eigen::MatrixXd::Identity(2, 2);
  small(0, 1) = -0.004;
  small(1, 0) = -0.0051;
  const std::string html = svg_correlation(small, {"a", "b"});
  test_support::expect_parts(html, {">0.00</text>", ">-0.01</text>"});
  EXPECT_EQ(html.find("-0.00<"), std::string::npos);
}

}  // namespace
}  // namespace service
