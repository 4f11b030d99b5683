// SPDX-License-Identifier: MIT OR Apache-2.0

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
