// SPDX-License-Identifier: MIT OR Apache-2.0
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#endif

/// Starts a detached thread that runs `body`.
///
/// Returns false if the system has no thread left.
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

/// Returns a number that identifies the calling thread while it lives.
package func currentThreadId() -> UInt {
  #if canImport(Darwin)
    return UInt(bitPattern: pthread_self())
  #else
    return UInt(pthread_self())
  #endif
}

/// Returns the time of day as ISO 8601 in UTC, with milliseconds.
package func wallTimeText() -> String {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  var seconds = now.tv_sec
  var parts = tm()
  gmtime_r(&seconds, &parts)
  func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
  let ms = now.tv_nsec / 1_000_000
  let fraction = ms < 10 ? "00\(ms)" : ms < 100 ? "0\(ms)" : "\(ms)"
  let date = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
  return "\(date)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(fraction)Z"
}

/// Reads the system's times of one thread: how long it ran, and how long it was ready without a
/// core.
///
/// Linux keeps them in the thread's file `schedstat`. Other systems show neither to other threads.
package final class ThreadTimes: Sendable {
  private let file: Int32

  /// Opens the times of the calling thread.
  ///
  /// Fails where the system does not keep them.
  package init?() {
    file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
    if file < 0 { return nil }
  }

  deinit { close(file) }

  /// Reads the times, in ms since the thread started.
  ///
  /// Any thread may call it. Returns nil after the thread has ended.
  package func read() -> (ranMs: Double, waitedMs: Double)? {
    var bytes = [UInt8](repeating: 0, count: 96)
    let size = pread(file, &bytes, bytes.count, 0)
    guard size > 0 else { return nil }
    let fields = bytes[..<size].split(separator: UInt8(ascii: " "))
    guard fields.count >= 2, let ran = UInt64(String(decoding: fields[0], as: UTF8.self)),
      let waited = UInt64(String(decoding: fields[1], as: UTF8.self))
    else { return nil }
    return (Double(ran) / 1e6, Double(waited) / 1e6)
  }
}
