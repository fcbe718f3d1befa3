// Half a million parks in adaptive mode, after spins of about the length of a cycle's pauses,
// without one lost wake.
#include "test/check.h"
#include "test/park_exchange.h"

using namespace queuepair;
using namespace queuepair::test;

TEST(noWakeIsLostInAdaptiveMode) {
  Exchange exchange;
  exchange.run(kCycles, PollingMode::kAdaptive, 2'000);
  exchange.checkNothingWasLost();
}
