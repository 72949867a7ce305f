#pragma once
#include <cstddef>
#include <cstdint>

/// Reads a case from bytes: the text of a case file, then, each after a zero byte, arguments of --set. Ends the program
/// if the case is neither refused with a message of moderate length nor reproduced by its resolved text. This is
/// libFuzzer's entry point; clang++ -fsanitize=fuzzer with read_case.cpp and the io library makes a fuzzer of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
