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

  /// Calls `body` with the first element's place, if there is one.
  mutating func updateFirst(_ body: (inout Element) -> Void) {
    guard head < elements.count, var element = elements[head] else { return }
    body(&element)
    elements[head] = element
  }

  mutating func removeAll() {
    elements = []
    head = 0
  }
}
