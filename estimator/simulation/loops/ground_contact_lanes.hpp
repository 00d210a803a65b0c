#pragma once

#include <algorithm>
#include <vector>

#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Tikhonov term of contact equations, relative to the mean mobility of the contact points. Several
/// contacts may have linearly dependent equations, whose reactions are then not determined; this
/// term selects the smallest ones. It changes the motion by less than this relative amount squared.
inline constexpr double kContactRegularization = 1e-9;

/// Accelerations of a tree mechanism whose bodies touch the ground, in W lanes. Active contacts
/// have the equations G a + g = 0 (TreeProgram). With the mass matrix M and unconstrained
/// accelerations a₀,
///
///   a = a₀ − X λ,   X = M⁻¹ Gᵀ,   S = G X,   S λ = G a₀ + g.
template <int W>
class GroundContactLanes {
 public:
  explicit GroundContactLanes(const TreeProgram& program)
      : program_(program),
        n_(program.joint_count()),
        m_(program.contact_equation_count()),
        jacobian_(make_zero_rows<W>(m_ * n_)),
        response_(make_zero_rows<W>(m_ * n_)),
        mobility_(make_zero_rows<W>(m_ * m_)),
        inverse_pivot_(make_zero_rows<W>(m_)),
        reaction_(make_zero_rows<W>(m_)),
        right_(make_zero_rows<W>(m_)),
        combined_(make_zero_rows<W>(m_ * n_)) {}

  /// Constrains accelerations, and stores the reactions λ in the program.
  /// @param lu, inverse_pivot  factors of the mass matrix (factor_lu_in_lanes)
  /// @param active             1 for each active contact, else 0
  /// @param acceleration       a₀, which a replaces
  void constrain(const Rows& lu, const Rows& inverse_pivot, const Rows& active, double* rows,
                 double* acceleration) {
    factor(lu, inverse_pivot, active, rows);
    for (int i = 0; i < m_; ++i) cleared<W>(row_at<W>(reaction_, i));
    for (int round = 0; round < 2; ++round) {  // the second round corrects the Tikhonov term
      for (int i = 0; i < m_; ++i) {
        double* right = row_at<W>(right_, i);
        const double *on = active_row(active, i),
                     *drift = rows + program_.closure_drift_row(program_.contact_equation(i)) * W;
        for_lanes<W>(right, [=](int lane) { return on[lane] * drift[lane]; });
        for (int j = 0; j < n_; ++j) {
          add_product<W>(right, row_at<W>(jacobian_, i * n_ + j), acceleration + j * W);
        }
      }
      solve_lu_in_lanes<W>(m_, mobility_, inverse_pivot_, right_.data());
      for (int i = 0; i < m_; ++i) {
        const double* more = row_at<W>(right_, i);
        double* reaction = row_at<W>(reaction_, i);
        for_lanes<W>(reaction, [=](int lane) { return reaction[lane] + more[lane]; });
        for (int j = 0; j < n_; ++j) {
          subtract_product<W>(acceleration + j * W, row_at<W>(response_, i * n_ + j), more);
        }
      }
    }
    for (int i = 0; i < m_; ++i) {
      std::copy_n(row_at<W>(reaction_, i), W,
                  rows + program_.loop_reaction_row(program_.contact_equation(i)) * W);
    }
  }

  /// Replaces −M⁻¹ by −(M⁻¹ − X S⁻¹ Xᵀ), and appends the columns −X S⁻¹ of the contact equations.
  /// Together they map the derivatives of the equations of motion and of the contact equations to
  /// those of the accelerations. Call it after `constrain`.
  /// @param inverse  joints × (joints + contact equations)
  void constrain_inverse(double* inverse) {
    const int columns = n_ + m_;
    for (int j = 0; j < n_; ++j) {  // S⁻¹ Xᵀ by columns
      for (int i = 0; i < m_; ++i) {
        std::copy_n(row_at<W>(response_, i * n_ + j), W, row_at<W>(right_, i));
      }
      solve_lu_in_lanes<W>(m_, mobility_, inverse_pivot_, right_.data());
      for (int i = 0; i < m_; ++i) {
        std::copy_n(row_at<W>(right_, i), W, row_at<W>(combined_, i * n_ + j));
      }
    }
    for (int j = 0; j < n_; ++j) {
      for (int k = 0; k < n_; ++k) {
        double* element = inverse + (j * columns + k) * W;
        for (int i = 0; i < m_; ++i) {
          add_product<W>(element, row_at<W>(response_, i * n_ + j),
                         row_at<W>(combined_, i * n_ + k));
        }
      }
      for (int i = 0; i < m_; ++i) {
        const double* combined = row_at<W>(combined_, i * n_ + j);
        for_lanes<W>(inverse + (j * columns + n_ + i) * W,
                     [=](int lane) { return -combined[lane]; });
      }
    }
  }

 private:
  const double* active_row(const Rows& active, int equation) const {
    return row_at<W>(active, program_.contact_of_equation()[static_cast<std::size_t>(equation)]);
  }

  /// Computes the Jacobian G, its response X and the mobility S of active contacts, and factors S.
  /// In S, the rows of inactive contacts are rows of the identity matrix; in G and X they are zero.
  void factor(const Rows& lu, const Rows& inverse_pivot, const Rows& active, const double* rows) {
    for (int i = 0; i < m_; ++i) {
      const double* on = active_row(active, i);
      const int equation = program_.contact_equation(i);
      for (int j = 0; j < n_; ++j) {
        const double* slope = rows + program_.closure_jacobian_row(equation, j) * W;
        const double bears = program_.bears_contact_reactions(j) ? 1.0 : 0.0;
        double *own = row_at<W>(jacobian_, i * n_ + j), *force = row_at<W>(response_, i * n_ + j);
        for_lanes<W>(own, [=](int lane) { return on[lane] * slope[lane]; });
        for_lanes<W>(force, [=](int lane) { return bears * own[lane]; });
      }
      solve_lu_in_lanes<W>(n_, lu, inverse_pivot, row_at<W>(response_, i * n_));
    }
    alignas(32) double trace[W] = {}, count[W] = {};
    for (int i = 0; i < m_; ++i) {
      const double* on = active_row(active, i);
      for (int k = 0; k < m_; ++k) {
        double* element = cleared<W>(row_at<W>(mobility_, i * m_ + k));
        for (int j = 0; j < n_; ++j) {
          add_product<W>(element, row_at<W>(jacobian_, i * n_ + j),
                         row_at<W>(response_, k * n_ + j));
        }
      }
      const double* diagonal = row_at<W>(mobility_, i * m_ + i);
      for_lanes<W>(trace, [&](int lane) { return trace[lane] + diagonal[lane]; });
      for_lanes<W>(count, [&](int lane) { return count[lane] + on[lane]; });
    }
    for (int i = 0; i < m_; ++i) {
      const double* on = active_row(active, i);
      double* diagonal = row_at<W>(mobility_, i * m_ + i);
      for_lanes<W>(diagonal, [&](int lane) {
        return on[lane] > 0.0 ? diagonal[lane] + kContactRegularization * trace[lane] / count[lane]
                              : 1.0;
      });
    }
    factor_lu_in_lanes<W>(m_, mobility_, inverse_pivot_);
  }

  const TreeProgram& program_;
  int n_, m_;
  Rows jacobian_;  // G of active contacts: equations × joints
  Rows response_;  // Xᵀ: equations × joints
  Rows mobility_;  // S, factored: equations × equations
  Rows inverse_pivot_, reaction_, right_;
  Rows combined_;  // S⁻¹ Xᵀ: equations × joints
};

}  // namespace estimator
