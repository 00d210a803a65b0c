#include "estimator/model/parameter_dependencies.hpp"

#include <algorithm>
#include <cstddef>

#include "estimator/model/mechanism.hpp"

namespace estimator {
namespace {

/// Adds `factor` times a parameter to a list without duplicates.
void add_term(std::vector<DependencyTerm>& terms, int parameter, double factor) {
  const auto same = std::ranges::find(terms, parameter, &DependencyTerm::parameter);
  if (same == terms.end()) {
    terms.push_back({parameter, factor});
  } else {
    same->factor += factor;
  }
}

/// Replaces every dependent term by the terms of its own dependency. Returns whether there was one.
bool replace_tied_terms(std::vector<ParameterDependency>& dependencies, ParameterDependency& tie) {
  bool replaced = false;
  std::vector<DependencyTerm> terms;
  for (const DependencyTerm& term : tie.terms) {
    const auto source =
        std::ranges::find(dependencies, term.parameter, &ParameterDependency::parameter);
    if (source == dependencies.end()) {
      add_term(terms, term.parameter, term.factor);
      continue;
    }
    replaced = true;
    tie.constant += term.factor * source->constant;
    for (const DependencyTerm& own : source->terms) {
      add_term(terms, own.parameter, term.factor * own.factor);
    }
  }
  tie.terms = std::move(terms);
  return replaced;
}

}  // namespace

int resolve_dependencies(std::vector<ParameterDependency>& dependencies) {
  for (ParameterDependency& tie : dependencies) {
    // The depth of a dependency is at most the number of dependencies, unless dependencies are
    // circular.
    std::size_t depth = 0;
    while (replace_tied_terms(dependencies, tie)) {
      if (++depth > dependencies.size()) return tie.parameter;
    }
  }
  return -1;
}

void apply_dependencies(Mechanism& mechanism) {
  for (const ParameterDependency& tie : mechanism.dependencies) {
    double value = tie.constant;
    for (const DependencyTerm& term : tie.terms)
      value += term.factor * mechanism.at(term.parameter).value;
    mechanism.parameters[tie.parameter].value = value;
  }
}

const ParameterDependency* find_dependency(const Mechanism& mechanism, int parameter) {
  const auto found =
      std::ranges::find(mechanism.dependencies, parameter, &ParameterDependency::parameter);
  return found == mechanism.dependencies.end() ? nullptr : &*found;
}

std::vector<DependencyTerm> free_dependencies(const Mechanism& mechanism, int parameter) {
  if (mechanism.at(parameter).free) return {{parameter, 1.0}};
  std::vector<DependencyTerm> sources;
  const ParameterDependency* const tie = find_dependency(mechanism, parameter);
  if (tie == nullptr) return sources;
  for (const DependencyTerm& term : tie->terms) {
    if (mechanism.at(term.parameter).free) sources.push_back(term);
  }
  return sources;
}

bool is_changed_by_fit(const Mechanism& mechanism, int parameter) {
  return !free_dependencies(mechanism, parameter).empty();
}

bool is_fixed_parameter(const Mechanism& mechanism, int parameter) {
  return !is_changed_by_fit(mechanism, parameter) &&
         find_dependency(mechanism, parameter) == nullptr;
}

}  // namespace estimator
