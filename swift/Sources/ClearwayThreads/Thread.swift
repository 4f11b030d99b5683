// SPDX-License-Identifier: MIT OR Apache-2.0
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#endif

/// Starts a detached thread that runs `body`. Returns false if the system has no thread left.
///
/// `name` is shown by debuggers; Linux cuts it after 15 bytes.
package func startThread(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
  #if canImport(Darwin)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  let status = pthread_create(&thread, &attributes, { run($0) }, start.toOpaque())
  if status != 0 { start.release() }
  return status == 0
}

private final class ThreadStart: Sendable {
  let name: String
  let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

// The parameter of a thread's function is optional on Linux only.
private func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  #if canImport(Darwin)
    _ = pthread_setname_np(start.name)
  #else
    // Swift's import of the C library lacks pthread_setname_np.
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    if file >= 0 {
      let name = Array(start.name.utf8.prefix(15))
      _ = write(file, name, name.count)
      close(file)
    }
  #endif
  start.body()
  return nil
}

/// Returns the number of processors that the process may use, at least 1.
package func processorCount() -> Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

/// Returns the time of the monotonic clock in nanoseconds.
package func monotonicNs() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}
