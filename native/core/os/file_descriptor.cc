#include "core/os/file_descriptor.h"

#include <unistd.h>

namespace queuepair::os {

// After EINTR Linux has closed the descriptor already, so there is nothing to repeat.
void FileDescriptor::reset() noexcept {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace queuepair::os
