#include <fmt/format.h>
#include <mpi.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/mpi_buffers.hpp"
#include "core/device/buffer.hpp"
#include "core/device/flat_loops.hpp"
#include "core/device/select.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "src/bench/bench.hpp"
#include "src/bench/result.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

Json row_of(const BenchOptions& options, const std::string& name) {
  Json row = new_result("links");
  row["bytes"] = options.bytes;
  row["name"] = name;
  return row;
}

/// A link over which each rank sends this many bytes.
Json link(const BenchOptions& options, const std::string& name, const Spread& seconds, double bytes) {
  Json row = row_of(options, name);
  add_milliseconds(row, seconds);
  row["gb_per_s"] = bytes / seconds.median * 1e-9;
  return row;
}

/// Page-locked memory of the host.
device::HostPointer<std::byte> host_block(std::size_t bytes) {
  return device::HostPointer<std::byte>(static_cast<std::byte*>(device::allocate_host(bytes)));
}

Spread time_of(const BenchOptions& options, const std::function<void()>& action) {
  return spread_of_repeats(options.warm_up.value_or(3), options.repeats, [&] { return seconds_of(action); });
}

/// Copies a block within the device by a loop, as packing does.
void copy_block(std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_values(reinterpret_cast<real*>(to), reinterpret_cast<const real*>(from), bytes / sizeof(real));
}

void send_and_receive(std::byte* out, std::byte* in, std::size_t bytes, int to, int from) {
  const int count = mpi_element_count(bytes, "bench links");
  check_mpi(MPI_Sendrecv(out, count, mpi_element_type(), to, 0, in, count, mpi_element_type(), from, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
}

/// The stages of a staged exchange, each timed alone: all ranks at once, one block each.
std::vector<Json> stages(const BenchOptions& options, std::size_t bytes) {
  Buffer<std::byte> on_device(bytes);
  const auto out = host_block(bytes);
  const auto in = host_block(bytes);
  std::vector<Json> links;
  const auto add = [&](const char* name, const std::function<void()>& action) {
    links.push_back(link(options, name, time_of(options, action), static_cast<double>(bytes)));
  };
  add("device to host", [&] { device::copy(out.get(), on_device.data(), bytes); });
  add("host to device", [&] { device::copy(on_device.data(), in.get(), bytes); });
  // The block that a rank keeps: copied by a loop, as all methods do, and for comparison by MPI.
  Buffer<std::byte> kept(bytes);
  add("own block, loop", [&] { copy_block(kept.data(), on_device.data(), bytes); });
  const int rank = rank_of(MPI_COMM_WORLD);
  add("own block, MPI on the host", [&] { send_and_receive(out.get(), in.get(), bytes, rank, rank); });
  if (device::is_gpu() && mpi_takes_device_pointers())
    add("own block, MPI on the device", [&] { send_and_receive(on_device.data(), kept.data(), bytes, rank, rank); });
  const int ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) return links;
  add("network, host to host",
      [&] { send_and_receive(out.get(), in.get(), bytes, (rank + 1) % ranks, (rank + ranks - 1) % ranks); });
  return links;
}

/// One block from every rank to every other: a loop writes it to the method's send buffer, and the method moves it.
Json exchange_link(const BenchOptions& options, const std::string& method, std::size_t bytes) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const auto failed = [&](const char* why) {
    Json row = row_of(options, method);
    row["fault"] = why;
    return row;
  };
  try {
    const std::unique_ptr<Exchange> exchange = make_exchange(method, MPI_COMM_WORLD);
    if (exchange->sends_unpacked()) return failed("sends arrays without packing; packed blocks as mpi_p2p");
    const Buffer<std::byte> block(bytes);
    const ArrayPart part{const_cast<std::byte*>(block.data()), sizeof(real), bytes, 1, 1, 0, 0};
    Parts outgoing, incoming;
    for (int step = 1; step < ranks; ++step) outgoing.push_back({(rank_of(MPI_COMM_WORLD) + step) % ranks, part});
    const BlockLayout layout = BlockLayout::of(outgoing, rank_of(MPI_COMM_WORLD), ranks);
    const std::unique_ptr<BlockMover> mover = exchange->block_mover({MPI_COMM_WORLD, layout, layout});
    for (PeerPart peer : outgoing) {  // the blocks stay in the receive buffer
      peer.part.data = mover->incoming_blocks() + layout.offset[peer.peer];
      incoming.push_back(peer);
    }
    const auto move = [&] { mover->move(outgoing, incoming); };
    double spent = 0;
    while (!options.warm_up && spent < options.time_limit && is_tuning(exchange->piece_tuning()))
      spent += seconds_of(move);
    Json row = link(options, method, time_of(options, move), static_cast<double>(bytes) * (ranks - 1));
    std::vector<PieceTuning> tuning = exchange->piece_tuning();
    for (PieceTuning& pieces : tuning) pieces.traffic = "blocks";  // neither rows nor columns
    add_pieces(row, tuning);
    return row;
  } catch (const Error& error) {
    if (error.code() != ExitCode::resources) throw;
    return failed(error.what());
  }
}

}  // namespace

ExitCode bench_links(const BenchOptions& options) {
  device::select(MPI_COMM_WORLD);
  const std::size_t bytes = options.bytes / sizeof(real) * sizeof(real);
  constexpr auto max_bytes = static_cast<std::size_t>(std::numeric_limits<int>::max()) * sizeof(real);
  if (bytes == 0 || bytes > max_bytes) {
    throw Error(ExitCode::usage, fmt::format("bench links: --bytes {} is not between {} and {}, one number and as many "
                                             "as MPI counts in a message",
                                             options.bytes, sizeof(real), max_bytes));
  }
  JsonLines json(options.json);
  std::vector<Json> links = stages(options, bytes);
  if (size_of(MPI_COMM_WORLD) > 1) {
    for (const std::string& method : exchange_methods()) links.push_back(exchange_link(options, method, bytes));
  }
  for (const Json& row : links) json.write(row);
  run_on_root(MPI_COMM_WORLD, [&] {
    fmt::print("links, blocks of {} bytes, {} rank(s), {}\n", bytes, size_of(MPI_COMM_WORLD), device::description());
    print_table(links,
                {text_column("", 28, "name"), time_column(), number_column("GB/s of the block", 20, "gb_per_s", 2)});
  });
  return ExitCode::success;
}

}  // namespace sluice
