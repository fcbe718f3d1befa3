#include "core/completion_drain.h"

namespace queuepair {
namespace {

// Batches a step: 1,024 completions, as many as the owner takes in one turn of its loop.
constexpr int kBatches = 16;

}  // namespace

bool CompletionDrain::run(CompletionQueue& queue) {
  ++runs_;
  bool moved = releaseDue();
  for (int batch = 0; batch < kBatches; ++batch) {
    connections_.failEnding();  // what the last batch ended: its flushes come with the next one
    const std::size_t count = queue.poll(batch_);
    if (count == 0) break;
    moved = true;
    for (std::size_t index = 0; index < count; ++index) take(batch_[index]);
  }
  connections_.failEnding();
  return moved;
}

void CompletionDrain::take(WorkCompletion& completion) {
  std::uint64_t value = 0;
  if (completion.status == Status::kSuccess &&
      faults_.fires(FaultPoint::kCompletionStatus, value)) {
    completion.status = static_cast<Status>(value);
  }
  value = 0;
  if (faults_.fires(FaultPoint::kCompletionDelay, value) || !held_.empty()) {
    held_.push_back({completion, runs_ + value});
  } else {
    connections_.finish(completion);
  }
}

bool CompletionDrain::releaseDue() {
  bool released = false;
  while (!held_.empty() && held_.front().dueRun <= runs_) {
    connections_.finish(held_.front().completion);
    held_.pop_front();
    released = true;
  }
  return released;
}

}  // namespace queuepair
