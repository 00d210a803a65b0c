#pragma once

namespace sample {

class Motor {
 public:
  int step(double speed, double torque, int mode);
  bool is_idle() const { return !armed_ || total_ <= 0; }

 private:
  double limit_ = 2.0;
  double offset_ = 0.5, speed_ = 0.0, last_ = 0.0;
  int total_ = 7;
  bool armed_ = false;
};

}  // namespace sample
