// Makes completion records and the counters that go with them.
#pragma once

#include <cstdint>

#include "core/completion_ring.h"
#include "core/record.h"
#include "core/shared_header.h"
#include "core/work.h"

namespace queuepair {

class CompletionWriter {
 public:
  CompletionWriter(SharedHeader header, CompletionRing ring, std::uint32_t laneIndex) noexcept
      : header_(header), ring_(ring), lane_(static_cast<std::uint8_t>(laneIndex)) {}

  // Of an operation that is in flight; the opcode is the engine's own, whatever the provider says.
  void complete(const WorkCompletion& completion, Opcode opcode) noexcept;
  // Of a record that never became an operation.
  void refuse(const SubmissionRecord& record, Status status) noexcept;

  bool publish() noexcept { return ring_.publish(); }
  [[nodiscard]] bool unread() const noexcept { return ring_.unread(); }
  // The owner reused an op slot before it had taken the slot's record: records are lost.
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }

 private:
  void write(const CompletionRecord& record, Status status) noexcept;
  void countBytes(Opcode opcode, std::uint64_t byteLength) const noexcept;

  SharedHeader header_;
  CompletionRing ring_;
  std::uint8_t lane_;
  bool overflowed_ = false;
};

}  // namespace queuepair
