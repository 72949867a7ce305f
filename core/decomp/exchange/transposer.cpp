// The transposer of methods that cannot access other ranks' memory: two movers fill and empty this rank's array.
#include <algorithm>

#include "core/decomp/exchange/exchange.hpp"
#include "core/device/buffer.hpp"
#include "core/device/traits.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

class OwnArray : public Transposer {
 public:
  OwnArray(Exchange& exchange, const Splittings& boxes) : rank_(rank_of(boxes.comm)) {
    const Box3& held = boxes.to[static_cast<std::size_t>(rank_)];
    run_collectively(exchange.world(), [&] { array_ = Buffer<std::byte>(held_bytes(held, boxes.element_bytes)); });
    const int size = static_cast<int>(boxes.to.size());
    Parts source;  // of any array of that shape: only the sizes matter
    for (int step = 0; step < size; ++step) {
      const int peer = (rank_ + step) % size;
      const Box3 common = intersect(boxes.from[static_cast<std::size_t>(peer)], held);
      parts_.push_back({peer, transposed_part(array_.data(), held, common, boxes.element_bytes)});
      const Box3 given =
          intersect(boxes.from[static_cast<std::size_t>(rank_)], boxes.to[static_cast<std::size_t>(peer)]);
      source.push_back({peer, transposed_part(nullptr, given, given, boxes.element_bytes)});
    }
    if (size == 1) return;
    const BlockLayout first = BlockLayout::of(source, rank_, size);
    const BlockLayout second = BlockLayout::of(parts_, rank_, size);
    // Methods that pack return the PackedMover of their block_mover(), e.g. MpiExchange::block_mover.
    forward_ = exchange.array_mover({boxes.comm, first, second, Traffic::all_to_all});
    backward_ = exchange.array_mover({boxes.comm, second, first, Traffic::all_to_all});
  }

  std::byte* array() override { return array_.data(); }
  void forward(const Parts& source) override { move(forward_.get(), source, parts_); }
  void backward(const Parts& target) override { move(backward_.get(), parts_, target); }

 private:
  /// A single rank has no mover.
  static void move(Mover* mover, const Parts& from, const Parts& to) {
    if (mover != nullptr) {
      mover->move(from, to);  // start(), then finish()
      return;
    }
    PartCopies own;
    own.add(from.front().part, to.front().part);
    own.issue("transpose: own array");
  }

  int rank_;
  Buffer<std::byte> array_;
  Parts parts_;  ///< of the array: its intersection with each rank's from-box
  std::unique_ptr<Mover> forward_, backward_;
};

}  // namespace

std::int64_t Transposer::row_length(const Box3& box, std::size_t element_bytes) {
  const std::int64_t piece = device::memory_line / static_cast<std::int64_t>(element_bytes);
  return (box.extent(0) + piece - 1) / piece * piece;
}

std::size_t Transposer::held_bytes(const Box3& box, std::size_t element_bytes) {
  return static_cast<std::size_t>(row_length(box, element_bytes) * box.extent(1) * box.extent(2)) * element_bytes;
}

ArrayPart transposed_part(std::byte* array, const Box3& whole, const Box3& box, std::size_t element_bytes) {
  const auto row = static_cast<std::ptrdiff_t>(element_bytes) * Transposer::row_length(whole, element_bytes);
  const std::ptrdiff_t plane = row * whole.extent(1);
  const Box3 place = box.relative_to(whole.lo);
  const std::ptrdiff_t start =
      static_cast<std::ptrdiff_t>(element_bytes) * place.lo[0] + row * place.lo[1] + plane * place.lo[2];
  return {array + start, element_bytes, element_bytes * static_cast<std::size_t>(box.nx()), box.ny(), box.nz(),
          row,           plane};
}

std::unique_ptr<Transposer> Exchange::transposer(const Splittings& boxes) {
  return std::make_unique<OwnArray>(*this, boxes);
}

}  // namespace sluice
