// SPDX-License-Identifier: MIT OR Apache-2.0
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#endif

/// A POSIX mutex with a condition variable.
///
/// The package uses it instead of `Synchronization.Mutex`: it also exists on the older systems that
/// the package supports, and the thread sanitizer follows it.
package final class Lock: @unchecked Sendable {
  // Memory of C has a stable address, which a stored property does not have.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      // A limited wait must not end late when someone sets the time of day.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }

  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Releases the lock, waits for a wake, and takes the lock again.
  ///
  /// May return without a wake.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// Waits as ``wait()`` does, for a number of nanoseconds at most.
  package func wait(atMostNs: UInt64) {
    #if canImport(Darwin)
      var time = timespec(
        tv_sec: time_t(atMostNs / 1_000_000_000), tv_nsec: Int(atMostNs % 1_000_000_000))
      pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      var until = timespec()
      clock_gettime(CLOCK_MONOTONIC, &until)
      let ns = UInt64(until.tv_nsec) + atMostNs
      until.tv_sec += time_t(ns / 1_000_000_000)
      until.tv_nsec = Int(ns % 1_000_000_000)
      pthread_cond_timedwait(condition, mutex, &until)
    #endif
  }

  /// Wakes one thread that waits.
  package func wakeOne() { pthread_cond_signal(condition) }

  /// Wakes all threads that wait.
  package func wakeAll() { pthread_cond_broadcast(condition) }
}

/// A value that only one thread at a time uses.
package final class Locked<Value>: @unchecked Sendable {
  package let lock = Lock()
  private var value: Value

  package init(_ value: sending Value) { self.value = value }

  /// Runs `body` with the value, under the lock.
  ///
  /// The body must not call code of the application.
  package func with<R: ~Copyable, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }

  /// Blocks the calling thread while the condition holds.
  ///
  /// The thread that changes the value wakes the lock.
  package func wait(while holds: (Value) -> Bool) {
    lock.lock()
    // No access to the value lasts across the wait, because other threads change it meanwhile.
    while holds(value) { lock.wait() }
    lock.unlock()
  }
}

/// A first-in, first-out queue in an array.
///
/// Appending and taking cost constant time on average.
package struct Fifo<Element> {
  private var slots: [Element?] = []
  private var head = 0

  package init() {}

  package var count: Int { slots.count - head }
  package var isEmpty: Bool { count == 0 }

  package mutating func append(_ element: Element) { slots.append(element) }

  package mutating func popFirst() -> Element? {
    guard head < slots.count else { return nil }
    let element = slots[head]
    slots[head] = nil
    head += 1
    if head == slots.count {
      slots.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head > slots.count / 2 {
      slots.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Removes the elements that match, in linear time.
  package mutating func removeAll(where matches: (Element) -> Bool) {
    slots.removeAll { $0.map(matches) ?? true }
    head = 0
  }

  /// Removes and returns all elements.
  package mutating func takeAll() -> [Element] {
    let taken = slots[head...].compactMap { $0 }
    slots = []
    head = 0
    return taken
  }
}
