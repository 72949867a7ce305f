#pragma once

namespace sluice {

/// How tridiagonal systems along z are solved when z is split over ranks. ptdma: a reduced system for the boundary
/// values of the z blocks (Diez Sanhueza et al. 2025, Algorithm 2). transpose: the full-transpose method, which makes
/// lines local. They agree to round-off.
enum class TridiagonalMethod { ptdma, transpose };

}  // namespace sluice
