#include "core/device/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/support/error.hpp"

namespace sluice::device {

std::vector<int> gpus_of_ranks(const std::vector<std::vector<std::string>>& visible) {
  std::set<std::string> all, taken;
  for (const auto& names : visible) all.insert(names.begin(), names.end());
  if (visible.size() > all.size())
    throw Error(ExitCode::resources, fmt::format("{} ranks of a node see {} GPU(s) in all: start one rank for each GPU",
                                                 visible.size(), all.size()));
  std::vector<int> chosen;
  for (const auto& names : visible) {
    const auto free = std::find_if(names.begin(), names.end(), [&](const auto& name) { return !taken.contains(name); });
    if (free == names.end())
      throw Error(ExitCode::resources,
                  fmt::format("rank {} of a node sees only GPUs that lower ranks use: let each rank "
                              "see all GPUs of the node, or a GPU that no other rank sees",
                              chosen.size()));
    taken.insert(*free);
    chosen.push_back(static_cast<int>(free - names.begin()));
  }
  return chosen;
}

}  // namespace sluice::device
