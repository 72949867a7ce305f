# The tests with the label `quick`, which scripts/test.sh --quick runs: together 130 s of one core. They are
# the cheapest tests of each room that find a wrong number, and of whole runs one case that ends with the same bits on any
# ranks, one that is restarted often, and messages.
# TEST: the whole test has the label. TEST:EXPRESSION: the tests of a pytest file that match the expression (pytest -k)
# become a test TEST.quick of their own; TEST has the others.
set(SLUICE_QUICK_TESTS
  # core
  test_exact_sum.np1 test_error.np1 test_real.np1 test_phases.np1 test_box3.np1 test_decomposition.np1 test_field.np1
  test_parallel_for.np1 test_chunk_tuner.np1 test_collective.np3 test_global_sum.np3 test_halo.np2 test_transpose.np1
  # poisson
  test_tridiagonal.np1 test_tridiagonal_blocks.np1 test_poisson.np1 test_poisson.np2 test_fused_divergence.np1
  # poisson/fft
  test_small_dft.np1 test_batched_fft.np1 test_fft_columns.np1 test_distributed_fft.np1
  # model
  test_formula.np1 test_schedule.np1 test_key_figures.np1 test_ekman_layer.np1
  # solver
  test_fixed_point_sum.np1 test_stretching.np1 test_advection.np1 test_fourth_order.np1 test_momentum_sweeps.np1
  test_pending_corrections.np1 test_crank_nicolson.np1 test_divergence.np1 test_forcing.np1 test_decay.np1
  test_time_order.np1 test_flow_statistics.np1
  # io
  test_case_reference.np1 test_case.np1 test_files.np1 test_checkpoint.np1 test_rate_reductions.np2 regression.test_schema
  # src
  test_time_step_estimate.np1 test_step_forecast.np1 regression.test_check_messages regression.test_keys_flow
  "regression.test_exactness:second_order_implicit_z"
  "regression.test_restart:schedule or after_many_steps or branch or flow_stay_apart"
  # sluice_post
  "postprocess:test_profiles.py or test_statistics.py or test_spectra.py or test_timeseries_and_slices.py or test_merge.py\
 or test_blocks_file.py or test_reference.py or test_uncertainty.py or test_stationarity.py or test_imports.py\
 or test_report_of_a_turbulent_run"
)
add_custom_target(quick_tests)  # builds what they run

# sluice_register_pytest(TEST PATH TESTS): adds a test that runs pytest, or two if the list has an expression for it.
# TESTS: a variable for their names.
function(sluice_register_pytest test path tests)
  # A test whose list of parameters is empty, by a mistake, would be skipped.
  set(pytest python3 -m pytest -q -p no:cacheprovider -o empty_parameter_set_mark=fail_at_collect ${path})
  set(expression ${SLUICE_QUICK_TESTS})
  list(FILTER expression INCLUDE REGEX "^${test}:")
  if(NOT expression)
    add_test(NAME ${test} COMMAND ${pytest})
    set(${tests} ${test} PARENT_SCOPE)
    return()
  endif()
  string(REPLACE "${test}:" "" expression "${expression}")
  add_test(NAME ${test} COMMAND ${pytest} -k "not (${expression})")
  add_test(NAME ${test}.quick COMMAND ${pytest} -k "${expression}")
  set(${tests} ${test} ${test}.quick PARENT_SCOPE)
endfunction()

# sluice_mark_quick(TEST TARGET): gives a test, once it has its other labels, this one if the list has it. TARGET: what
# it runs.
function(sluice_mark_quick test target)
  set_property(GLOBAL APPEND PROPERTY SLUICE_TESTS ${test})
  if(TEST ${test}.quick)
    set_property(TEST ${test}.quick APPEND PROPERTY LABELS quick)
  elseif(test IN_LIST SLUICE_QUICK_TESTS)
    set_property(TEST ${test} APPEND PROPERTY LABELS quick)
  else()
    return()
  endif()
  add_dependencies(quick_tests ${target})
endfunction()

# After all tests: each entry of the list is one. A GPU build does not have all of them.
function(sluice_check_quick_tests)
  get_property(tests GLOBAL PROPERTY SLUICE_TESTS)
  foreach(entry IN LISTS SLUICE_QUICK_TESTS)
    string(REGEX REPLACE ":.*" "" test "${entry}")
    if(NOT SLUICE_GPU AND NOT test IN_LIST tests)
      message(FATAL_ERROR "tests/QuickTests.cmake: there is no test ${test}")
    endif()
  endforeach()
endfunction()
