// Stands in for libcatalyst.so: has the functions of its interface that Sluice calls, with Conduit's trees, and records
// what it is given. Each rank writes one JSON object for each call to $STAND_IN_FOLDER/rank_N.jsonl; N is its number in
// catalyst/mpi_comm. $STAND_IN_FAILURE, such as "execute 2 1 4", makes the second call of this function on rank 1
// return status 4.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Value {
  std::string type;
  std::string text;  // as JSON; of values that are referred to: empty
  const float* singles = nullptr;
  const double* doubles = nullptr;
  std::int64_t count = 1;
};

struct Node {
  std::vector<std::pair<std::string, Value>> values;  // by path, in the order in which they were set
};

int nodes = 0;  // that exist
int rank = -1;
int executions = 0;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

template <class T>
std::string number(T value) {
  std::ostringstream text;
  text << std::setprecision(17) << value;
  return text.str();
}

template <class T>
std::string list(const T* values, std::int64_t count) {
  std::string text;
  for (std::int64_t n = 0; n < count; ++n) text += (n > 0 ? "," : "") + number(values[n]);
  return "[" + text + "]";
}

std::string json(const Value& value) {
  std::string text = value.text;
  if (value.singles != nullptr) text = list(value.singles, value.count);
  if (value.doubles != nullptr) text = list(value.doubles, value.count);
  return R"({"type":)" + quoted(value.type) + R"(,"value":)" + text + "}";
}

// Values that are referred to are read now, as Catalyst does.
void record(const std::string& call, const void* tree) {
  const char* const folder = std::getenv("STAND_IN_FOLDER");
  if (folder == nullptr) return;
  std::ofstream file(std::string(folder) + "/rank_" + std::to_string(rank) + ".jsonl", std::ios::app);
  file << R"({"call":)" << quoted(call) << R"(,"nodes":)" << nodes << R"(,"tree":{)";
  const char* between = "";
  for (const auto& [path, value] : static_cast<const Node*>(tree)->values) {
    file << between << quoted(path) << ':' << json(value);
    between = ",";
  }
  file << "}}\n";
}

int status_of(const std::string& call, int number_of_call) {
  const char* const failure = std::getenv("STAND_IN_FAILURE");
  std::istringstream words(failure != nullptr ? failure : "");
  std::string which;
  int when = 0, where = 0, status = 0;
  words >> which >> when >> where >> status;
  return which == call && when == number_of_call && where == rank ? status : 0;
}

void set(void* node, const char* path, Value value) {
  static_cast<Node*>(node)->values.emplace_back(path, std::move(value));
}

}  // namespace

extern "C" {

void* catalyst_conduit_node_create() {
  ++nodes;
  return new Node;
}

void catalyst_conduit_node_destroy(void* node) {
  --nodes;
  delete static_cast<Node*>(node);
}

void catalyst_conduit_node_set_path_int64(void* node, const char* path, std::int64_t value) {
  if (std::string(path) == "catalyst/mpi_comm") {
    MPI_Comm_rank(MPI_Comm_f2c(static_cast<MPI_Fint>(value)), &rank);
    int size = 0;
    MPI_Comm_size(MPI_Comm_f2c(static_cast<MPI_Fint>(value)), &size);
    set(node, "size of the communicator", {.type = "int64", .text = number(size)});
  }
  set(node, path, {.type = "int64", .text = number(value)});
}

void catalyst_conduit_node_set_path_float64(void* node, const char* path, double value) {
  set(node, path, {.type = "float64", .text = number(value)});
}

void catalyst_conduit_node_set_path_char8_str(void* node, const char* path, const char* value) {
  set(node, path, {.type = "char8_str", .text = quoted(value)});
}

void catalyst_conduit_node_set_path_external_float32_ptr(void* node, const char* path, float* data,
                                                         std::int64_t count) {
  set(node, path, {.type = "external float32", .singles = data, .count = count});
}

void catalyst_conduit_node_set_path_external_float64_ptr(void* node, const char* path, double* data,
                                                         std::int64_t count) {
  set(node, path, {.type = "external float64", .doubles = data, .count = count});
}

int catalyst_initialize(const void* parameters) {
  record("initialize", parameters);
  return status_of("initialize", 1);
}

int catalyst_execute(const void* parameters) {
  record("execute", parameters);
  return status_of("execute", ++executions);
}

int catalyst_finalize(const void* parameters) {
  record("finalize", parameters);
  return status_of("finalize", 1);
}

#ifndef STAND_IN_IS_INCOMPLETE
int catalyst_results(void* /*parameters*/) {
  return 0;
}
#endif
}
