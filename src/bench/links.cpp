#include "src/bench/links.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/mpi_buffers.hpp"
#include "core/device/buffer.hpp"
#include "core/device/flat_loops.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "src/bench/json_file.hpp"
#include "src/bench/sample.hpp"
#include "src/run/provenance.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

/// A link and the bytes that each rank sends over it.
struct Rate {
  std::string link;
  Spread seconds;
  double bytes = 0;
  std::string fault;  ///< empty if it worked
  double gb_per_s() const { return bytes / seconds.median * 1e-9; }
};

/// Page-locked memory of the host.
class HostBlock {
 public:
  explicit HostBlock(std::size_t bytes) : data_(static_cast<std::byte*>(device::allocate_host(bytes))) {}
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;
  ~HostBlock() { device::release_host(data_); }
  std::byte* data() { return data_; }

 private:
  std::byte* data_;
};

/// Wall time from barrier to barrier, after a warm-up.
Spread time_of(const BenchOptions& options, const std::function<void()>& action) {
  std::vector<double> seconds;
  for (int n = 0; n < options.warm_up + options.repeats; ++n) {
    device::synchronize();
    check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    const double start = wall_seconds();
    action();
    device::synchronize();
    check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    if (n >= options.warm_up) seconds.push_back(wall_seconds() - start);
  }
  return spread_of(seconds);
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
std::vector<Rate> stages(const BenchOptions& options, std::size_t bytes) {
  Buffer<std::byte> on_device(bytes);
  HostBlock out(bytes);
  HostBlock in(bytes);
  const auto size = static_cast<double>(bytes);
  std::vector<Rate> rates;
  rates.push_back(
      {"device to host", time_of(options, [&] { device::copy(out.data(), on_device.data(), bytes); }), size, ""});
  rates.push_back(
      {"host to device", time_of(options, [&] { device::copy(on_device.data(), in.data(), bytes); }), size, ""});
  // The block that a rank keeps: copied by a loop, as all methods do, and for comparison by MPI.
  Buffer<std::byte> kept(bytes);
  rates.push_back(
      {"own block, loop", time_of(options, [&] { copy_block(kept.data(), on_device.data(), bytes); }), size, ""});
  const int rank = rank_of(MPI_COMM_WORLD);
  rates.push_back({"own block, MPI on the host",
                   time_of(options, [&] { send_and_receive(out.data(), in.data(), bytes, rank, rank); }), size, ""});
  if (device::is_gpu() && mpi_takes_device_pointers()) {
    const auto to_itself = [&] { send_and_receive(on_device.data(), kept.data(), bytes, rank, rank); };
    rates.push_back({"own block, MPI on the device", time_of(options, to_itself), size, ""});
  }
  const int ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) return rates;
  const auto ring = [&] {
    send_and_receive(out.data(), in.data(), bytes, (rank + 1) % ranks, (rank + ranks - 1) % ranks);
  };
  rates.push_back({"network, host to host", time_of(options, ring), size, ""});
  return rates;
}

/// One block from every rank to every other: a loop writes it to the method's send buffer, and the method moves it.
Rate exchange_rate(const BenchOptions& options, const std::string& method, std::size_t bytes) {
  const int ranks = size_of(MPI_COMM_WORLD);
  Rate rate{method, {}, static_cast<double>(bytes) * (ranks - 1), ""};
  try {
    const std::unique_ptr<Exchange> exchange = make_exchange(method, MPI_COMM_WORLD);
    if (exchange->sends_unpacked()) {
      rate.fault = "sends arrays without packing; packed blocks as mpi_p2p";
      return rate;
    }
    const Buffer<std::byte> block(bytes);
    const ArrayPart part{const_cast<std::byte*>(block.data()), sizeof(real), bytes, 1, 1, 0, 0};
    Parts outgoing, incoming;
    for (int step = 1; step < ranks; ++step) outgoing.push_back({(rank_of(MPI_COMM_WORLD) + step) % ranks, part});
    const BlockLayout layout = BlockLayout::of(outgoing, rank_of(MPI_COMM_WORLD), ranks);
    const std::unique_ptr<BlockMover> mover = exchange->block_mover({MPI_COMM_WORLD, layout, layout});
    for (PeerPart peer : outgoing) {  // the blocks stay in the receive buffer
      peer.part.data = mover->incoming_blocks() + layout.offset[static_cast<std::size_t>(peer.peer)];
      incoming.push_back(peer);
    }
    rate.seconds = time_of(options, [&] { mover->move(outgoing, incoming); });
  } catch (const Error& error) {
    if (error.code() != ExitCode::resources) throw;
    rate.fault = error.what();
  }
  return rate;
}

void print(std::size_t bytes, const std::vector<Rate>& rates) {
  fmt::print("links, blocks of {} bytes, {} rank(s), {}\n", bytes, size_of(MPI_COMM_WORLD), device::description());
  fmt::print("{:<28}{:>10}{:>22}{:>20}\n", "", "ms", "min to max", "GB/s of the block");
  for (const Rate& rate : rates) {
    if (!rate.fault.empty()) {
      fmt::print("{:<28}{}\n", rate.link, rate.fault);
      continue;
    }
    fmt::print("{:<28}{:>10.3f}{:>11.3f}{:>11.3f}{:>20.2f}\n", rate.link, rate.seconds.median * 1e3,
               rate.seconds.min * 1e3, rate.seconds.max * 1e3, rate.gb_per_s());
  }
}

nlohmann::ordered_json report(std::size_t bytes, const std::vector<Rate>& rates) {
  nlohmann::ordered_json json;
  json["what"] = "links";
  json["bytes"] = bytes;
  json["device"] = device::description();
  json["version"] = version();
  json["git_revision"] = git_revision();
  json["ranks"] = size_of(MPI_COMM_WORLD);
  json["links"] = nlohmann::ordered_json::array();
  for (const Rate& rate : rates) {
    if (!rate.fault.empty()) {
      json["links"].push_back({{"name", rate.link}, {"fault", rate.fault}});
      continue;
    }
    json["links"].push_back({{"name", rate.link},
                             {"milliseconds", rate.seconds.median * 1e3},
                             {"milliseconds_spread", {rate.seconds.min * 1e3, rate.seconds.max * 1e3}},
                             {"gb_per_s", rate.gb_per_s()}});
  }
  return json;
}

}  // namespace

ExitCode bench_links(const BenchOptions& options) {
  select_device(MPI_COMM_WORLD);
  const std::size_t bytes = static_cast<std::size_t>(options.bytes) / sizeof(real) * sizeof(real);
  constexpr auto max_bytes = static_cast<std::size_t>(std::numeric_limits<int>::max()) * sizeof(real);
  if (bytes == 0 || bytes > max_bytes) {
    throw Error(ExitCode::usage, fmt::format("bench links: --bytes {} is not between {} and {}, one number and as many "
                                             "as MPI counts in a message",
                                             options.bytes, sizeof(real), max_bytes));
  }
  std::vector<Rate> rates = stages(options, bytes);
  if (size_of(MPI_COMM_WORLD) > 1) {
    for (const std::string& method : exchange_methods()) rates.push_back(exchange_rate(options, method, bytes));
  }
  run_on_root(MPI_COMM_WORLD, [&] {
    print(bytes, rates);
    write_json(options.json, report(bytes, rates));
  });
  return ExitCode::success;
}

}  // namespace sluice
