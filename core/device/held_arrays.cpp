#include "core/device/held_arrays.hpp"

#include <memory>
#include <unordered_map>

#include "core/device/memory.hpp"

namespace sluice::device {

namespace {

struct HeldArray {
  std::weak_ptr<void> holders;
  bool released = false;  ///< by its owner
};

// Outlives every static object that might still hold an array.
std::unordered_map<void*, HeldArray>& held_arrays() {
  static auto* instance = new std::unordered_map<void*, HeldArray>;
  return *instance;
}

void end_of_holders(void* pointer) {
  const bool released = held_arrays().at(pointer).released;
  held_arrays().erase(pointer);
  if (released) release(pointer);
}

}  // namespace

std::shared_ptr<void> hold(void* pointer) {
  HeldArray& held = held_arrays()[pointer];
  std::shared_ptr<void> holder = held.holders.lock();
  if (!holder) {
    holder = std::shared_ptr<void>(pointer, end_of_holders);
    held.holders = holder;
  }
  return holder;
}

bool left_to_holders(void* pointer) noexcept {
  const auto found = held_arrays().find(pointer);
  if (found == held_arrays().end()) return false;
  found->second.released = true;
  return true;
}

}  // namespace sluice::device
