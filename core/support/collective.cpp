#include "core/support/collective.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>

#include "core/support/error.hpp"

namespace sluice {

namespace {

std::optional<Error> caught(const std::function<void()>& action) {
  try {
    action();
  } catch (...) {
    return current_error();
  }
  return std::nullopt;
}

bool is_one_process(MPI_Comm comm) {
  return comm == MPI_COMM_SELF;
}

// In pieces, because MPI counts in int.
void broadcast_from(int root, std::string& text, MPI_Comm comm) {
  constexpr std::uint64_t max_piece = 1 << 20;
  std::uint64_t size = text.size();
  check_mpi(MPI_Bcast(&size, 1, MPI_UINT64_T, root, comm), "MPI_Bcast");
  text.resize(size);
  for (std::uint64_t begin = 0; begin < size; begin += max_piece) {
    const auto count = static_cast<int>(std::min(size - begin, max_piece));
    check_mpi(MPI_Bcast(text.data() + begin, count, MPI_CHAR, root, comm), "MPI_Bcast");
  }
}

/// The group of a communicator's ranks.
struct GroupOf {
  explicit GroupOf(MPI_Comm comm) { check_mpi(MPI_Comm_group(comm, &handle), "MPI_Comm_group"); }
  ~GroupOf() { MPI_Group_free(&handle); }  // unchecked: destructor
  GroupOf(const GroupOf&) = delete;
  GroupOf& operator=(const GroupOf&) = delete;

  MPI_Group handle = MPI_GROUP_NULL;
};

/// The error of the lowest rank that has one. Collective.
std::optional<Error> first_error(MPI_Comm comm, const std::optional<Error>& own) {
  const int rank = rank_of(comm);
  const int size = size_of(comm);
  const int mine = own ? rank : size;
  int first = size;
  check_mpi(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce of errors");
  if (first == size) return std::nullopt;

  std::string message = own && rank == first ? own->what() : "";
  int code = own ? static_cast<int>(own->code()) : 0;
  check_mpi(MPI_Bcast(&code, 1, MPI_INT, first, comm), "MPI_Bcast");
  broadcast_from(first, message, comm);
  return Error(static_cast<ExitCode>(code), message);
}

}  // namespace

int size_of(MPI_Comm comm) {
  int size = 1;
  if (!is_one_process(comm)) check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

int rank_of(MPI_Comm comm) {
  int rank = 0;
  if (!is_one_process(comm)) check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

std::vector<int> ranks_in(MPI_Comm world, MPI_Comm comm) {
  std::vector<int> own(static_cast<std::size_t>(size_of(comm)));
  std::iota(own.begin(), own.end(), 0);
  std::vector<int> translated(own.size());
  const GroupOf group(comm);
  const GroupOf world_group(world);
  check_mpi(MPI_Group_translate_ranks(group.handle, static_cast<int>(own.size()), own.data(), world_group.handle,
                                      translated.data()),
            "MPI_Group_translate_ranks");
  return translated;
}

void run_collectively(MPI_Comm comm, const std::function<void()>& action) {
  const std::optional<Error> own = caught(action);
  std::optional<Error> agreed = own;
  if (!is_one_process(comm)) {
    const std::optional<Error> failed = caught([&] { agreed = first_error(comm, own); });
    if (failed) agreed = own ? own : failed;  // the rank's own error says more
  }
  if (agreed) throw *agreed;
}

void run_on_root(MPI_Comm comm, const std::function<void()>& action) {
  run_collectively(comm, [&] {
    if (rank_of(comm) == 0) action();
  });
}

void broadcast(std::string& text, MPI_Comm comm) {
  if (!is_one_process(comm)) broadcast_from(0, text, comm);
}

void broadcast(std::vector<std::int64_t>& numbers, MPI_Comm comm) {
  if (is_one_process(comm)) return;
  auto count = static_cast<int>(numbers.size());
  check_mpi(MPI_Bcast(&count, 1, MPI_INT, 0, comm), "MPI_Bcast");
  numbers.resize(static_cast<std::size_t>(count));
  check_mpi(MPI_Bcast(numbers.data(), count, MPI_INT64_T, 0, comm), "MPI_Bcast");
}

std::uint64_t sum_over(MPI_Comm comm, std::uint64_t part) {
  if (!is_one_process(comm))
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &part, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  return part;
}

void check_mpi(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);  // unchecked: the error of `status` is reported
  throw Error(ExitCode::internal, std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

}  // namespace sluice
