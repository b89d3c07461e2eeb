// What tests may not be skipped for.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("house");

TEST_CASE("what tests need is required by any value but none and 0") {
  const char* const variable = "PAGERANK_REQUIRE_NOTHING";
  CHECK_FALSE(is_required(variable));
  for (const char* const value : {"1", "true", "yes", "00"}) {
    setenv(variable, value, 1);
    CHECK(is_required(variable));
  }
  for (const char* const value : {"", "0"}) {
    setenv(variable, value, 1);
    CHECK_FALSE(is_required(variable));
  }
  unsetenv(variable);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
