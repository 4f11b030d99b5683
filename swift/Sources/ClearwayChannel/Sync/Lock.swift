// SPDX-License-Identifier: MIT OR Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock that its owner may take again.
///
/// A thread sanitizer knows a POSIX mutex. `Synchronization.Mutex` needs newer systems, and the
/// sanitizer of Swift 6.0 does not know it on Linux.
final class Lock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  @inline(__always)
  func lock() { pthread_mutex_lock(mutex) }

  @inline(__always)
  func unlock() { pthread_mutex_unlock(mutex) }

  @inline(__always)
  func held<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    lock()
    defer { unlock() }
    return try body()
  }
}

/// A queue of values. Adding and removing at either end takes constant time on average.
struct Deque<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { count == 0 }
  var first: Element? { isEmpty ? nil : elements[head] }
  /// The elements in order.
  var all: [Element] { elements[head...].compactMap { $0 } }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let first = elements[head]
    elements[head] = nil
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head >= 32, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return first
  }

  /// Removes the first element that matches. Takes time in proportion to the queue.
  mutating func remove(where matches: (Element) -> Bool) -> Element? {
    for at in head..<elements.count {
      if let element = elements[at], matches(element) {
        elements.remove(at: at)
        return element
      }
    }
    return nil
  }

  mutating func removeAll() {
    elements = []
    head = 0
  }
}

/// One wait of a task. Its identity tells its cancellation from that of another task's wait.
final class Turn: @unchecked Sendable {
  /// Whether another task's wait was in the way. The lock of what is waited for guards it.
  var isRefused = false
}

/// Something that only the first caller gets.
final class Once: @unchecked Sendable {
  private let lock = Lock()
  private var isTaken = false

  /// Returns whether this is the first call.
  func take() -> Bool {
    lock.held {
      defer { isTaken = true }
      return !isTaken
    }
  }
}

/// A timer that may be stopped.
struct ChannelTimer: Sendable {
  let stop: @Sendable () -> Void
}

/// The time of an endpoint. Tests have their own.
protocol ChannelClock: Sendable {
  /// The time in milliseconds, from any start.
  var nowMs: Int64 { get }
  /// Calls `act` once, after at least this time, on any thread.
  func after(_ ms: Int64, _ act: @escaping @Sendable () -> Void) -> ChannelTimer
}

/// The system's clock.
struct SystemClock: ChannelClock {
  private static let start = ContinuousClock.now
  /// 34 years. Swift's timers overflow after 584 years, and then end at once.
  private static let longestMs: Int64 = 1 << 40

  var nowMs: Int64 { (ContinuousClock.now - Self.start).milliseconds }

  func after(_ ms: Int64, _ act: @escaping @Sendable () -> Void) -> ChannelTimer {
    let task = Task.detached {
      try await Task.sleep(for: .milliseconds(min(ms, Self.longestMs)))
      act()
    }
    return ChannelTimer { task.cancel() }
  }
}

extension Duration {
  /// The whole milliseconds of the duration, rounded up.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return product.addingReportingOverflow(rest).overflow ? .max : product + rest
  }
}
