#pragma once

#include <optional>

#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns the reason why the loops of a mechanism cannot move: the loops cannot be closed, have no
/// degree of freedom, contain bodies that are fixed to one another twice, or contain prescribed
/// motions that determine or contradict the motion of their joints. The argument "joint" of the
/// message names a joint of the loop. Returns nullopt without loops, or if any joint can move.
std::optional<Message> find_reason_loops_cannot_move(const Mechanism& mechanism);

}  // namespace estimator
