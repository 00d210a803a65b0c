#pragma once

#include <tinyxml2.h>

#include <Eigen/Core>
#include <string>
#include <vector>

namespace service {

/// Numbers that read as the same again, with a space between.
std::string number_list(const std::vector<double>& values);
std::string vector_text(const Eigen::Vector3d& v);

/// What rounding left of zeros is zero: of lengths, angles, directions.
Eigen::VectorXd without_rounding(const Eigen::VectorXd& v);

/// A comment of some lines; XML allows no "--" in it.
void push_comment(tinyxml2::XMLPrinter& xml, const std::vector<std::string>& lines);

void push(tinyxml2::XMLPrinter& xml, const char* attribute, const std::string& value);
void push(tinyxml2::XMLPrinter& xml, const char* attribute, double value);

}  // namespace service
