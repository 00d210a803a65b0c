#include "estimator/fit/free_parameters.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

constexpr double kShare = 0.1;

/// One body with its own centre of mass, as in the CAD model and as estimated.
Mechanism drawn_body() {
  Mechanism mechanism;
  mechanism.bodies = {{.name = "B", .cad_uncertainty = kShare}};
  mechanism.joints = {{.name = "1"}};
  make_parameters(mechanism);
  const auto set = [&](Parameter& parameter, double value) {
    parameter.value = parameter.prior_mean = value;
  };
  set(mechanism.parameter(0, BodyParameter::kMass), 0.4);
  const Eigen::Matrix3d A =
      (Eigen::Matrix3d() << 0.05, 0.02, -0.01, 0.0, 0.04, 0.03, 0.0, 0.0, 0.06).finished();
  const Moments moments = moments_of_inertia(second_moments_to_inertia(A * A.transpose()));
  for (int i = 0; i < 6; ++i) {
    set(mechanism.parameters[static_cast<std::size_t>(mechanism.index(0, BodyParameter::kJxx) + i)],
        moments[i]);
  }
  for (const char* axis : {"x", "y", "z"}) {
    Parameter centre{.name = std::string("B.c_") + axis, .unit = "m", .value = 0.02};
    centre.prior_mean = centre.value;
    mechanism.parameters.push_back(centre);
  }
  return mechanism;
}

Parameter& parameter(Mechanism& mechanism, const InertiaPrior& prior, int i) {
  return mechanism
      .parameters[static_cast<std::size_t>(prior.parameters()[static_cast<std::size_t>(i)])];
}

/// The body with all ten parameters changed.
Mechanism changed(const InertiaPrior& prior) {
  Mechanism mechanism = drawn_body();
  const double factors[] = {1.3, 0.8, 1.1, 1.4, 1.2, 0.9, 1.05, 0.7, 1.3, 0.8};
  for (int i = 0; i < 10; ++i) parameter(mechanism, prior, i).value *= factors[i];
  return mechanism;
}

/// [Σ_o, m c; m cᵀ, m] about an origin, in axes turned by R.
Eigen::Matrix4d pseudo_inertia(Mechanism mechanism, const InertiaPrior& prior,
                               const Eigen::Matrix3d& R, const Eigen::Vector3d& origin) {
  Moments moments;
  for (int i = 0; i < 6; ++i) moments[i] = parameter(mechanism, prior, 4 + i).value;
  const double m = parameter(mechanism, prior, 0).value;
  Eigen::Vector3d c;
  for (int i = 0; i < 3; ++i) c[i] = parameter(mechanism, prior, 1 + i).value;
  c = R * c - origin;
  Eigen::Matrix4d P;
  P.topLeftCorner<3, 3>() = R * inertia_to_second_moments(inertia_matrix(moments)) * R.transpose() +
                            m * c * c.transpose();
  P.topRightCorner<3, 1>() = m * c;
  P.bottomLeftCorner<1, 3>() = m * c.transpose();
  P(3, 3) = m;
  return P;
}

// The squares must sum to 2/s² D in any frame and origin; D is written out here.
TEST(InertiaPrior, IsTheLogDetDivergenceInAnyFrame) {
  const Mechanism drawing = drawn_body();
  const InertiaPrior prior(drawing, 0);
  const Mechanism now = changed(prior);
  const double cost = prior.residual(now)->squaredNorm();
  for (const double turn : {0.0, 0.8}) {
    const Eigen::Matrix3d R =
        Eigen::AngleAxisd(turn, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
    const Eigen::Vector3d origin = turn * Eigen::Vector3d(0.3, -0.1, 0.2);
    const Eigen::Matrix4d X = pseudo_inertia(drawing, prior, R, origin)
                                  .partialPivLu()
                                  .solve(pseudo_inertia(now, prior, R, origin));
    const double D = X.trace() - std::log(X.determinant()) - 4.0;
    EXPECT_NEAR(cost, 2.0 / (kShare * kShare) * D, 1e-9 * cost);
  }
}

TEST(InertiaPrior, SlopesMatchCentralDifferences) {
  const Mechanism drawing = drawn_body();
  const InertiaPrior prior(drawing, 0);
  // At the CAD values the diagonal residuals use a series expansion.
  for (Mechanism at : {drawing, changed(prior)}) {
    const InertiaPrior::Sensitivities slopes = prior.sensitivities(at);
    for (int i = 0; i < 10; ++i) {
      const double value = parameter(at, prior, i).value, step = 1e-6 * std::abs(value);
      parameter(at, prior, i).value = value + step;
      const InertiaPrior::Residual above = *prior.residual(at);
      parameter(at, prior, i).value = value - step;
      const InertiaPrior::Residual below = *prior.residual(at);
      parameter(at, prior, i).value = value;
      const InertiaPrior::Residual expected = (above - below) / (2.0 * step);
      EXPECT_LT((slopes.col(i) - expected).norm(), 1e-7 * slopes.col(i).norm()) << i;
    }
  }
}

// The widths that the rig file promises: s for the mass, s/√2 of the radius of gyration for the
// centre, s for a second moment, each with all others at the CAD values.
TEST(InertiaPrior, HasTheSpecifiedWidth) {
  Mechanism drawing = drawn_body();
  for (int i = 3; i < 6; ++i) {
    Parameter& product =
        drawing.parameters[static_cast<std::size_t>(drawing.index(0, BodyParameter::kJxx) + i)];
    product.value = product.prior_mean = 0.0;
  }
  const InertiaPrior prior(drawing, 0);
  const InertiaPrior::Sensitivities slopes = prior.sensitivities(drawing);
  const Moments moments =
      (Moments() << parameter(drawing, prior, 4).value, parameter(drawing, prior, 5).value,
       parameter(drawing, prior, 6).value, 0, 0, 0)
          .finished();
  const double m = 0.4, sigma = inertia_to_second_moments(inertia_matrix(moments))(0, 0);
  EXPECT_NEAR(1.0 / slopes.col(0).norm(), kShare * m, 1e-12);
  EXPECT_NEAR(1.0 / slopes.col(1).norm(), kShare / std::sqrt(2.0) * std::sqrt(sigma / m), 1e-12);
  const Moments longer =
      moments_of_inertia(second_moments_to_inertia(Eigen::Vector3d(sigma, 0, 0).asDiagonal()));
  EXPECT_NEAR(1.0 / (slopes.rightCols<6>() * longer).norm(), kShare, 1e-12);
}

TEST(InertiaPrior, IsInfiniteForAnInconsistentInertia) {
  Mechanism mechanism = drawn_body();
  const InertiaPrior prior(mechanism, 0);
  EXPECT_TRUE(prior.residual(mechanism));
  Mechanism weightless = mechanism;
  parameter(weightless, prior, 0).value = 0.0;
  EXPECT_FALSE(prior.residual(weightless));
  parameter(mechanism, prior, 4).value *= 3.0;
  EXPECT_FALSE(prior.residual(mechanism));
  parameter(mechanism, prior, 4).value = std::nan("");
  EXPECT_FALSE(prior.residual(mechanism));
}

TEST(InertiaPrior, RejectsAnUnusableCadInertia) {
  const auto fault = [](const auto& spoil) {
    Mechanism mechanism = drawn_body();
    spoil(mechanism);
    return test_support::refusal<std::invalid_argument>([&] { check_cad_prior(mechanism, 0); });
  };
  EXPECT_NO_THROW(check_cad_prior(drawn_body(), 0));
  EXPECT_NE(fault([](Mechanism& m) { m.bodies[0].massless = true; }).find("massless"),
            std::string::npos);
  EXPECT_NE(fault([](Mechanism& m) { m.bodies[0].cad_uncertainty = -0.1; }).find("above zero"),
            std::string::npos);
  EXPECT_NE(fault([](Mechanism& m) {
              m.parameter(0, BodyParameter::kMass).prior_standard_deviation = 0.1;
            }).find("B.m"),
            std::string::npos);
  EXPECT_NE(fault([](Mechanism& m) {
              Parameter& zz = m.parameter(0, BodyParameter::kJzz);
              zz.prior_mean = m.parameter(0, BodyParameter::kJxx).value +
                              m.parameter(0, BodyParameter::kJyy).value;
            }).find("thickness"),
            std::string::npos);
}

}  // namespace
}  // namespace estimator
