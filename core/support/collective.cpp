#include "core/support/collective.hpp"

#include <exception>
#include <new>
#include <numeric>
#include <optional>
#include <string>

#include "core/support/error.hpp"

namespace sluice {

namespace {

std::optional<Error> caught(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ExitCode::resources, "out of memory");
  } catch (const std::exception& error) {
    return Error(ExitCode::internal, error.what());
  } catch (...) {
    return Error(ExitCode::internal, "an exception of unknown type");
  }
  return std::nullopt;
}

}  // namespace

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

std::vector<int> ranks_in(MPI_Comm world, MPI_Comm comm) {
  std::vector<int> own(static_cast<std::size_t>(size_of(comm)));
  std::iota(own.begin(), own.end(), 0);
  std::vector<int> translated(own.size());
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world_group = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(world, &world_group);
  MPI_Group_translate_ranks(group, static_cast<int>(own.size()), own.data(), world_group, translated.data());
  MPI_Group_free(&group);
  MPI_Group_free(&world_group);
  return translated;
}

void run_collectively(MPI_Comm comm, const std::function<void()>& action) {
  const std::optional<Error> error = caught(action);
  const int rank = rank_of(comm);
  const int size = size_of(comm);
  const int mine = error ? rank : size;
  int first = size;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == size) return;

  std::string message = error && rank == first ? error->what() : "";
  int header[2] = {error ? static_cast<int>(error->code()) : 0, static_cast<int>(message.size())};
  MPI_Bcast(header, 2, MPI_INT, first, comm);
  message.resize(static_cast<std::size_t>(header[1]));
  MPI_Bcast(message.data(), header[1], MPI_CHAR, first, comm);
  throw Error(static_cast<ExitCode>(header[0]), message);
}

void run_on_root(MPI_Comm comm, const std::function<void()>& action) {
  run_collectively(comm, [&] {
    if (rank_of(comm) == 0) action();
  });
}

void broadcast(std::string& text, MPI_Comm comm) {
  auto size = static_cast<unsigned long>(text.size());
  check_mpi(MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG, 0, comm), "MPI_Bcast");
  text.resize(size);
  check_mpi(MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, comm), "MPI_Bcast");
}

void check_mpi(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(ExitCode::internal, std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

}  // namespace sluice
