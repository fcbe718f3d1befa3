#include "core/completion_writer.h"

namespace queuepair {

void CompletionWriter::complete(const WorkCompletion& completion, Opcode opcode) noexcept {
  write({.operationSlot = operationSlot(completion.id),
         .operationGeneration = operationGeneration(completion.id),
         .status = static_cast<std::uint8_t>(completion.status),
         .flags = completion.flags,
         .opcode = static_cast<std::uint8_t>(opcode),
         .lane = lane_,
         .immediate = completion.immediate,
         .byteLength = completion.byteLength,
         .result = completion.result},
        completion.status);
  if (completion.status == Status::kSuccess) countBytes(opcode, completion.byteLength);
}

void CompletionWriter::refuse(const SubmissionRecord& record, Status status) noexcept {
  header_.count(layout::kRecordsRefused);
  write({.operationSlot = record.operationSlot,
         .operationGeneration = record.operationGeneration,
         .status = static_cast<std::uint8_t>(status),
         .flags = 0,
         .opcode = record.opcode,
         .lane = lane_,
         .immediate = 0,
         .byteLength = 0,
         .result = 0},
        status);
}

void CompletionWriter::write(const CompletionRecord& record, Status status) noexcept {
  if (!ring_.write(record)) overflowed_ = true;
  if (record.status < kStatusCount) header_.countStatus(status);
}

void CompletionWriter::countBytes(Opcode opcode, std::uint64_t byteLength) const noexcept {
  switch (opcode) {
    case Opcode::kSend:
      return header_.count(layout::kBytesSent, byteLength);
    case Opcode::kReceive:
      return header_.count(layout::kBytesReceived, byteLength);
    case Opcode::kRead:
      return header_.count(layout::kBytesRead, byteLength);
    case Opcode::kWrite:
      return header_.count(layout::kBytesWritten, byteLength);
    case Opcode::kFetchAdd:
    case Opcode::kCompareSwap:
    case Opcode::kFlush:
      return;
  }
}

}  // namespace queuepair
