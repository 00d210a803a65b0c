#pragma once

#include <tinyxml2.h>

#include <Eigen/Core>
#include <string>
#include <vector>

namespace service {

/// Returns numbers that parse to the same values, separated by spaces.
std::string number_list(const std::vector<double>& values);
std::string vector_text(const Eigen::Vector3d& v);

/// Sets lengths, angles or direction components within rounding of zero to zero.
Eigen::VectorXd with_exact_zeros(const Eigen::VectorXd& v);

/// Writes a comment of several lines; XML does not allow "--" in it.
void push_comment(tinyxml2::XMLPrinter& xml, const std::vector<std::string>& lines);

void push(tinyxml2::XMLPrinter& xml, const char* attribute, const std::string& value);
void push(tinyxml2::XMLPrinter& xml, const char* attribute, double value);

}  // namespace service
