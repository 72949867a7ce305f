#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <string>

namespace sluice {

/// Marks what the process is doing from construction to destruction, for whoever asks from another thread: the
/// watchdog, when the process hangs. Phases nest. Only the main thread makes them; each costs a few relaxed stores.
class Phase {
 public:
  static constexpr std::size_t max_open = 8;  ///< whose names are kept

  /// `name`: a string literal.
  explicit Phase(const char* name) {
    const std::size_t n = count_.load(std::memory_order_relaxed);
    if (n < names_.size()) names_[n].store(name, std::memory_order_relaxed);
    count_.store(n + 1, std::memory_order_relaxed);
  }
  ~Phase() { count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  /// The open phases of one of several stacks that take turns.
  class Open {
   public:
    static Open now() {
      Open open;
      open.count_ = Phase::count_.load(std::memory_order_relaxed);
      for (std::size_t n = 0; n < open.names_.size(); ++n)
        open.names_[n] = Phase::names_[n].load(std::memory_order_relaxed);
      return open;
    }
    /// Puts these in force, and keeps those that were.
    void exchange() {
      const Open before = now();
      for (std::size_t n = 0; n < names_.size(); ++n) Phase::names_[n].store(names_[n], std::memory_order_relaxed);
      Phase::count_.store(count_, std::memory_order_relaxed);
      *this = before;
    }

   private:
    std::array<const char*, max_open> names_{};
    std::size_t count_ = 0;
  };

  /// The open phases from the outermost to the innermost, such as "substep 2, halo exchange"; "" outside of all. For
  /// any thread: exact if the main thread stays in its phase meanwhile.
  static std::string open() {
    std::string text;
    const std::size_t count = count_.load(std::memory_order_relaxed);
    for (std::size_t n = 0; n < count && n < names_.size(); ++n)
      text += (n > 0 ? ", " : "") + std::string(names_[n].load(std::memory_order_relaxed));
    return text;
  }

 private:
  static inline std::array<std::atomic<const char*>, max_open> names_{};
  static inline std::atomic<std::size_t> count_{0};
};

}  // namespace sluice
