#include "estimator/model/ties.hpp"

#include <algorithm>
#include <cstddef>

#include "estimator/model/mechanism.hpp"

namespace estimator {
namespace {

/// Adds `factor` times a parameter to a list without duplicates.
void add_term(std::vector<TieTerm>& terms, int parameter, double factor) {
  const auto same = std::ranges::find(terms, parameter, &TieTerm::parameter);
  if (same == terms.end()) {
    terms.push_back({parameter, factor});
  } else {
    same->factor += factor;
  }
}

/// Replaces every dependent term by the terms of its own tie. Returns false if there is none.
bool replace_tied_terms(std::vector<Tie>& ties, Tie& tie) {
  bool replaced = false;
  std::vector<TieTerm> terms;
  for (const TieTerm& term : tie.terms) {
    const auto source = std::ranges::find(ties, term.parameter, &Tie::parameter);
    if (source == ties.end()) {
      add_term(terms, term.parameter, term.factor);
      continue;
    }
    replaced = true;
    tie.constant += term.factor * source->constant;
    for (const TieTerm& own : source->terms) {
      add_term(terms, own.parameter, term.factor * own.factor);
    }
  }
  tie.terms = std::move(terms);
  return replaced;
}

}  // namespace

int resolve_ties(std::vector<Tie>& ties) {
  for (Tie& tie : ties) {
    // The depth of a tie is at most the number of ties, unless ties are circular.
    std::size_t depth = 0;
    while (replace_tied_terms(ties, tie)) {
      if (++depth > ties.size()) return tie.parameter;
    }
  }
  return -1;
}

void apply_ties(Mechanism& mechanism) {
  for (const Tie& tie : mechanism.ties) {
    double value = tie.constant;
    for (const TieTerm& term : tie.terms)
      value += term.factor * parameter_at(mechanism, term.parameter).value;
    mechanism.parameters[static_cast<std::size_t>(tie.parameter)].value = value;
  }
}

const Tie* find_tie(const Mechanism& mechanism, int parameter) {
  const auto found = std::ranges::find(mechanism.ties, parameter, &Tie::parameter);
  return found == mechanism.ties.end() ? nullptr : &*found;
}

std::vector<TieTerm> free_sources(const Mechanism& mechanism, int parameter) {
  if (parameter_at(mechanism, parameter).free) return {{parameter, 1.0}};
  std::vector<TieTerm> sources;
  const Tie* const tie = find_tie(mechanism, parameter);
  if (tie == nullptr) return sources;
  for (const TieTerm& term : tie->terms) {
    if (parameter_at(mechanism, term.parameter).free) sources.push_back(term);
  }
  return sources;
}

bool varies(const Mechanism& mechanism, int parameter) {
  return !free_sources(mechanism, parameter).empty();
}

bool is_kept(const Mechanism& mechanism, int parameter) {
  return !varies(mechanism, parameter) && find_tie(mechanism, parameter) == nullptr;
}

}  // namespace estimator
