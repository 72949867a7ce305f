#pragma once
// Parts of the command line that have their own files, and texts that are generated from its options.
#include <CLI/CLI.hpp>

#include <string>

#include "src/bench/bench.hpp"

namespace sluice {

/// Adds `bench` with a subcommand for each benchmark. `options` must outlive the app.
CLI::App* add_bench(CLI::App& app, BenchOptions& options);

/// A script that completes subcommands, options and their values in bash, and through bashcompinit in zsh.
std::string bash_completion(const CLI::App& app);

/// A manual page in roff: all subcommands with their options, as --help has them.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace sluice
