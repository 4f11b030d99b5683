// SPDX-License-Identifier: MIT OR Apache-2.0

/// Carries frames between two ends in one process. For tests, and for code that expects a channel.
public final class MemoryTransport: OwnTransport, @unchecked Sendable {
  private enum Item {
    case frame([UInt8])
    case drained
    case closed(CloseReason)
  }

  /// "memory".
  public let name = "memory"
  /// Whether the other end is part of the same program: it is.
  public let isTrusted = true
  private let limits: TransportLimits
  let owner = Once()
  private let opened = Once()
  private let lock = Lock()
  private weak var peer: MemoryTransport?
  private var items = Deque<Item>()
  private var waitingBytes = 0
  private var isSenderFull = false
  private var isPaused = false
  private var isPeerClosed = false
  /// Whether the sink must still learn that the other end has room again.
  private var mustDrain = false
  private var isDelivering = false
  private var hasEnded = false
  private var sink: (any ChannelSink)?

  private init(_ limits: TransportLimits) { self.limits = limits }

  /// Returns the two ends of a connection.
  public static func pair(limits: TransportLimits = .standard) -> (MemoryTransport, MemoryTransport)
  {
    let (one, other) = (MemoryTransport(limits), MemoryTransport(limits))
    one.peer = other
    other.peer = one
    return (one, other)
  }

  deinit { peer?.add(.closed(CloseReason(.lost, "the other end is gone"))) }

  /// The largest frame in bytes.
  public var frameBytesMax: Int { limits.frameBytesMax }

  /// Starts to deliver frames to the sink.
  public func open(_ sink: any ChannelSink) {
    if !opened.take() {
      Task { sink.closed(.openedBefore) }
      return
    }
    lock.held { self.sink = sink }
    deliver()
  }

  /// Sends a frame to the other end.
  public func send(_ frame: [UInt8]) -> Bool {
    if frame.count > limits.frameBytesMax { return refuse(frame) }
    if lock.held({ hasEnded }) { return false }
    return peer?.add(.frame(frame)) ?? false
  }

  /// Pauses the delivery of frames until ``resume()``.
  public func pause() { lock.held { isPaused = true } }

  /// Continues the delivery of frames.
  public func resume() {
    lock.held { isPaused = false }
    deliver()
  }

  /// Closes both ends.
  public func close(_ reason: CloseReason) {
    let isFirst = lock.held {
      if hasEnded { return false }
      hasEnded = true
      mustDrain = false
      items.removeAll()
      items.append(.closed(reason))
      return true
    }
    if !isFirst { return }
    peer?.add(.closed(reason))
    deliver()
  }

  /// Adds an item for this end's sink. Returns false if too many bytes wait.
  @discardableResult
  private func add(_ item: Item) -> Bool {
    let hasRoom = lock.held {
      if hasEnded { return false }
      switch item {
      case .frame(let frame): waitingBytes += frame.count + entryBytes
      // Not behind frames that a pause holds back: this end may be paused until it has room.
      case .drained: mustDrain = true
      // After the end there is no sender to slow down, and the sink must learn of the end.
      case .closed: isPeerClosed = true
      }
      if case .drained = item {} else { items.append(item) }
      if waitingBytes >= limits.windowBytes { isSenderFull = true }
      return !isSenderFull
    }
    deliver()
    return hasRoom
  }

  private func deliver() {
    let mustStart = lock.held {
      if isDelivering || sink == nil || next == nil { return false }
      isDelivering = true
      return true
    }
    if mustStart { Task.detached { self.run() } }
  }

  /// The next item that may be delivered. A pause holds back frames only, until the other end closes.
  private var next: Item? {
    if mustDrain { return .drained }
    guard let first = items.first else { return nil }
    if isPaused, !isPeerClosed, case .frame = first { return nil }
    return first
  }

  private func run() {
    while true {
      let (item, hasRoom, to): (Item?, Bool, (any ChannelSink)?) = lock.held {
        guard let item = next else {
          isDelivering = false
          return (nil, false, nil)
        }
        switch item {
        case .frame(let frame):
          _ = items.popFirst()
          waitingBytes -= frame.count + entryBytes
        case .drained: mustDrain = false
        case .closed:
          hasEnded = true
          items.removeAll()
        }
        let hasRoom = isSenderFull && waitingBytes * 2 <= limits.windowBytes
        if hasRoom { isSenderFull = false }
        return (item, hasRoom, sink)
      }
      guard let item, let to else { return }
      switch item {
      case .frame(let frame): to.frame(frame)
      case .drained: to.drained()
      case .closed(let reason):
        to.closed(reason)
        // The sink outlives the lock, because its options may run code when they are destroyed.
        let old = lock.held { () -> (any ChannelSink)? in
          defer { sink = nil }
          return sink
        }
        withExtendedLifetime(old) {}
      }
      if hasRoom { peer?.add(.drained) }
    }
  }
}
