// Which exchange methods a setup is measured with.
#include <mpi.h>

#include <algorithm>
#include <utility>

#include "core/decomp/exchange/exchanges.hpp"
#include "core/support/error.hpp"
#include "src/bench/round_trip.hpp"

namespace sluice {

namespace {

/// One row: a setup that cannot be made or measured for want of memory has a "fault".
Json row_of(const BenchOptions& options, const RoundTripSetup& setup) {
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

/// The rows of one setup, without measuring a pair of methods twice.
class Choice {
 public:
  Choice(const BenchOptions& options, const RoundTripSetup& setup)
      : options_(options), setup_(setup), given_(ExchangeMethods::from_text(options.exchange)) {
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

  /// Measures these methods; what is not exchanged gets one that is used anyway.
  void add(ExchangeMethods methods) {
    for (const auto& kind : ExchangeMethods::kinds()) {
      if (!setup_.uses(kind)) methods.*kind.method = methods.*used_.front()->method;
    }
    if (std::ranges::find(tried_, methods) != tried_.end()) return;
    setup_.exchange = methods;
    tried_.push_back(methods);
    rows_.push_back(row_of(options_, setup_));
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
  RoundTripSetup setup_;
  ExchangeMethods given_;
  std::vector<const ExchangeMethods::Kind*> used_;
  std::vector<ExchangeMethods> tried_;
  std::vector<Json> rows_;
};

/// As `auto` of a run: every candidate for all traffic, then the best three for one kind at a time.
void choose(Choice& choice) {
  constexpr std::size_t best_count = 3;
  for (const std::string& method : exchange_candidates(MPI_COMM_WORLD)) choice.add(choice.with(method));
  std::vector<std::size_t> best = choice.by_time();
  if (best.empty()) return;
  best.resize(std::min(best.size(), best_count));
  for (const auto* kind : choice.used()) {
    if (!choice.is_open(*kind)) continue;
    ExchangeMethods methods = choice.methods(choice.by_time().front());
    for (const std::size_t row : best) {
      methods.*kind->method = choice.methods(row).*kind->method;
      choice.add(methods);
    }
  }
  choice.mark_chosen(choice.by_time().front());
}

}  // namespace

std::vector<Json> measure_methods(const BenchOptions& options, const RoundTripSetup& setup) {
  if (!setup.uses_rows && !setup.uses_columns) return {row_of(options, setup)};
  Choice choice(options, setup);
  if (!choice.is_open()) {
    choice.add(choice.with(""));
  } else if (options.all) {
    for (const std::string& method : exchange_methods()) choice.add(choice.with(method));
    if (options.pairs && choice.has_two_kinds()) {
      for (const std::string& rows : exchange_methods()) {
        for (const std::string& columns : exchange_methods()) {
          ExchangeMethods methods = choice.with(rows);
          if (choice.is_open(*choice.used().back())) methods.columns = columns;
          choice.add(methods);
        }
      }
    }
  } else if (choice.has_two_kinds()) {
    choose(choice);
  } else {
    choice.add(choice.with(exchange_candidates(MPI_COMM_WORLD).front()));
  }
  return std::move(choice).rows();
}

}  // namespace sluice
