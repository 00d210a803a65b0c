#pragma once

#include <optional>

#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns the reason why the loops of a mechanism cannot move: they cannot be closed, the joints
/// have no degree of freedom left, bodies are fixed to one another twice, or prescribed motions
/// determine or contradict the motion of the joints. The argument "joint" of the message names a
/// joint of the loop. Returns nullopt without loops, or if any joint can move.
std::optional<Message> find_loop_fault(const Mechanism& mechanism);

}  // namespace estimator
