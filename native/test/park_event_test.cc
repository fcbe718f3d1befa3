// Half a million parks in event mode, without one lost wake.
#include "test/check.h"
#include "test/park_exchange.h"

using namespace queuepair;
using namespace queuepair::test;

TEST(noWakeIsLostInEventMode) {
  Exchange exchange;
  exchange.run(kCycles, PollingMode::kEvent, 0);
  exchange.checkNothingWasLost();
}

// That the test above would see a loss: here every doorbell is lost, and the backstop does the
// work.
TEST(lostDoorbellsAreSeen) {
  Exchange exchange(true);
  exchange.run(6, PollingMode::kEvent, 0);
  CHECK(exchange.lostDoorbells > 0);
}
