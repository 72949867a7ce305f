// Which exchange methods a setup is measured with.
#include <mpi.h>

#include <algorithm>
#include <utility>

#include "core/decomp/exchange/exchanges.hpp"
#include "core/decomp/host_access.hpp"
#include "core/device/memory.hpp"
#include "core/support/error.hpp"
#include "src/bench/round_trip.hpp"

namespace sluice {

namespace {

/// The methods that a setup may be measured with.
class Methods {
 public:
  Methods(const BenchOptions& options, const RoundTripSetup& setup)
      : setup_(setup), given_(ExchangeMethods::from_text(options.exchange)) {
    for (const auto& kind : ExchangeMethods::kinds()) {
      if (setup.uses(kind)) used_.push_back(&kind);
    }
  }

  bool is_open(const ExchangeMethods::Kind& kind) const { return given_.*kind.method == "auto"; }
  bool is_open() const {
    return std::ranges::any_of(used_, [this](const auto* kind) { return is_open(*kind); });
  }
  bool has_two_kinds() const { return used_.size() > 1; }
  const std::vector<const ExchangeMethods::Kind*>& used() const { return used_; }

  /// With `method` for the kinds of traffic that are open.
  ExchangeMethods with(const std::string& method) const {
    ExchangeMethods methods = given_;
    for (const auto* kind : used_) {
      if (is_open(*kind)) methods.*kind->method = method;
    }
    return methods;
  }

  /// The setup with these methods; what is not exchanged gets one that is used anyway.
  RoundTripSetup setup_with(ExchangeMethods methods) const {
    for (const auto& kind : ExchangeMethods::kinds()) {
      if (!setup_.uses(kind)) methods.*kind.method = methods.*used_.front()->method;
    }
    RoundTripSetup setup = setup_;
    setup.exchange = methods;
    return setup;
  }

 private:
  RoundTripSetup setup_;
  ExchangeMethods given_;
  std::vector<const ExchangeMethods::Kind*> used_;
};

/// The rows of one setup, without measuring a pair of methods twice.
class Choice {
 public:
  Choice(const BenchOptions& options, const RoundTripSetup& setup) : options_(options), methods_(options, setup) {}

  const Methods& methods() const { return methods_; }

  void add(const ExchangeMethods& methods) {
    const RoundTripSetup setup = methods_.setup_with(methods);
    if (std::ranges::find(tried_, setup.exchange) != tried_.end()) return;
    tried_.push_back(setup.exchange);
    rows_.push_back(measure_setup(options_, setup));
  }

  /// The indices of the rows that worked, the fastest first.
  std::vector<std::size_t> by_time() const {
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < rows_.size(); ++n) {
      if (!rows_[n].contains("fault")) order.push_back(n);
    }
    std::ranges::sort(order, {}, [this](std::size_t n) { return rows_[n]["milliseconds"].get<double>(); });
    return order;
  }
  const ExchangeMethods& methods(std::size_t row) const { return tried_[row]; }
  void mark_chosen(std::size_t row) { rows_[row]["chosen"] = true; }
  std::vector<Json> rows() && { return std::move(rows_); }

 private:
  const BenchOptions& options_;
  Methods methods_;
  std::vector<ExchangeMethods> tried_;
  std::vector<Json> rows_;
};

/// As `auto` of a run: every candidate for all traffic, then the best three for one kind at a time.
void choose(Choice& choice) {
  constexpr std::size_t best_count = 3;
  for (const std::string& method : exchange_candidates(MPI_COMM_WORLD)) choice.add(choice.methods().with(method));
  std::vector<std::size_t> best = choice.by_time();
  if (best.empty()) return;
  best.resize(std::min(best.size(), best_count));
  for (const auto* kind : choice.methods().used()) {
    if (!choice.methods().is_open(*kind)) continue;
    ExchangeMethods methods = choice.methods(choice.by_time().front());
    for (const std::size_t row : best) {
      methods.*kind->method = choice.methods(row).*kind->method;
      choice.add(methods);
    }
  }
  choice.mark_chosen(choice.by_time().front());
}

}  // namespace

Json description_of(const BenchOptions& options, const RoundTripSetup& setup) {
  Json row = new_result(options.what);
  row["cells"] = setup.cells;
  if (options.what == "fft") {
    row["values"] = options.values;
    row["fields"] = options.fields;
  }
  row["kind"] = setup.kind;
  row["layout"] = setup.layout;
  row["process_grid"] = {setup.processes.py, setup.processes.pz};
  row["exchange"] = setup.exchange_text();
  if (device::is_gpu() && setup.exchange_text().find("mpi") != std::string::npos)
    row["cuda_aware_mpi"] = mpi_takes_device_pointers();
  return row;
}

Json measure_setup(const BenchOptions& options, const RoundTripSetup& setup) {
  Json row = description_of(options, setup);
  std::unique_ptr<Exchanges> exchanges;
  std::unique_ptr<RoundTrip> workload;
  try {
    exchanges = std::make_unique<Exchanges>(setup.exchange, MPI_COMM_WORLD);
    workload =
        options.what == "fft" ? make_fft(setup, exchanges->set()) : make_transpose(options, setup, exchanges->set());
    measure(options, *workload, row);
  } catch (const Error& error) {  // the same on all ranks
    if (error.code() != ExitCode::resources) throw;
    row["fault"] = error.what();
  }
  return row;
}

std::vector<RoundTripSetup> with_every_method(const BenchOptions& options, const RoundTripSetup& setup) {
  if (!setup.uses_rows && !setup.uses_columns) return {setup};
  const Methods choices(options, setup);
  std::vector<RoundTripSetup> setups;
  const auto add = [&](const ExchangeMethods& methods) {
    const RoundTripSetup another = choices.setup_with(methods);
    if (std::ranges::find(setups, another.exchange, &RoundTripSetup::exchange) == setups.end())
      setups.push_back(another);
  };
  if (!choices.is_open()) {
    add(choices.with(""));
    return setups;
  }
  for (const std::string& method : exchange_methods()) add(choices.with(method));
  if (options.pairs && choices.has_two_kinds()) {
    for (const std::string& rows : exchange_methods()) {
      for (const std::string& columns : exchange_methods()) {
        ExchangeMethods methods = choices.with(rows);
        if (choices.is_open(*choices.used().back())) methods.columns = columns;
        add(methods);
      }
    }
  }
  return setups;
}

std::vector<Json> measure_methods(const BenchOptions& options, const RoundTripSetup& setup) {
  Choice choice(options, setup);
  const bool exchanges = setup.uses_rows || setup.uses_columns;
  if (!exchanges || !choice.methods().is_open() || options.all) {
    std::vector<Json> rows;
    for (const RoundTripSetup& with_methods : with_every_method(options, setup))
      rows.push_back(measure_setup(options, with_methods));
    return rows;
  }
  if (choice.methods().has_two_kinds()) {
    choose(choice);
  } else {
    choice.add(choice.methods().with(exchange_candidates(MPI_COMM_WORLD).front()));
  }
  return std::move(choice).rows();
}

}  // namespace sluice
