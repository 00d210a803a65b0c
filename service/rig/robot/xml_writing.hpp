#pragma once

#include <tinyxml2.h>

#include <Eigen/Core>
#include <string>
#include <vector>

namespace service {

/// Returns numbers as text, separated by spaces. Parsing the text gives exactly the same values.
std::string number_list(const std::vector<double>& values);
std::string vector_text(const Eigen::Vector3d& v);

/// Returns lengths, angles or direction components with rounding errors replaced by exact zeros.
Eigen::VectorXd with_exact_zeros(const Eigen::VectorXd& v);

/// Writes an XML comment of several lines. The characters "--" are replaced, since XML does not
/// allow them in comments.
void push_comment(tinyxml2::XMLPrinter& xml, const std::vector<std::string>& lines);

void push(tinyxml2::XMLPrinter& xml, const char* attribute, const std::string& value);
void push(tinyxml2::XMLPrinter& xml, const char* attribute, double value);

}  // namespace service
