#pragma once

#include <cstddef>

#include "gpu/kernel_choice.hpp"

namespace pagerank::gpu {

/// The most that the function below tells.
inline constexpr double slowest_mixing = 0.95;

/// Of the mixing: what an iteration leaves of a difference between neighbourhoods, apart from
/// alpha, where links lead near: an estimate, whatever the numbers of the nodes; 0 where links lead
/// anywhere.
///
/// Random walks go back along links, many from each of some nodes. Where those from one node meet
/// again after they parted, more often than walks from different nodes meet, there are
/// neighbourhoods. If a walk stays in its own with probability p a step, two walks meet p^2 times
/// as often a step later: so p is read off the meetings of early and of late steps. Where as many
/// links lead into a neighbourhood as out of it, rank leaves it as slowly. Not seen are parts that
/// rank enters and hardly leaves, graphs whose walks soon end, and what only weights hold together;
/// early_changes.hpp sees the first two.
///
/// `starts`: nodes to walk from, at least one; the matrix has at least one link. The result does
/// not depend on `threads`.
[[nodiscard]] Neighbourhoods walk_neighbourhoods(const MatrixSampler& matrix, std::size_t starts,
                                                 int threads);

}  // namespace pagerank::gpu
