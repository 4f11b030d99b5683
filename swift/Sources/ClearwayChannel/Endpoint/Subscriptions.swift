// SPDX-License-Identifier: MIT OR Apache-2.0

/// A stream of events at the end that reads it. The endpoint's lock guards it.
final class Subscription: QueuedRequest, @unchecked Sendable {
  private struct Kept {
    let message: Received
    let bytes: Int
    let dropped: Int
  }

  enum Next {
    case event(Received)
    case end
  }

  private let owner: Subscriptions
  private let connection: Connection
  let channel: String
  let arguments: [UInt8]
  let options: ListenOptions
  var id: UInt32 = 0
  /// The credit that was granted and not sent. The source cannot use it, so it is at most the
  /// window and one event. Credit beyond 32 bits is lost: an event may be larger than the window.
  private var unsent: (items: UInt32, bytes: UInt32) = (0, 0)
  private var credit: ReceiveCredit
  private var kept = Deque<Kept>()
  /// The charge of the events that wait.
  private var waitingBytes = 0
  private var reader: (turn: Turn, continuation: CheckedContinuation<Next, any Error>)?
  /// How the stream ends after the events that wait; nil while it is open.
  private var ending: Result<Void, any Error>?
  private var droppedAtEnd = 0
  private var isOver = false
  private var dropped = 0

  init(
    _ owner: Subscriptions, _ connection: Connection, _ channel: String, _ arguments: [UInt8],
    _ options: ListenOptions
  ) {
    self.owner = owner
    self.connection = connection
    self.channel = channel
    self.arguments = arguments
    self.options = options
    credit = ReceiveCredit(items: options.grantedItems, bytes: options.windowBytes)
  }

  func leave() { owner.leave(self) }

  /// Whether another event may arrive while those wait that do.
  ///
  /// Credit counts bytes only, and an event may have thousands of empty attachments. Events whose
  /// attachments have 128 bytes or more never exceed this limit.
  var mayWait: Bool {
    waitingBytes <= 2 * options.windowBytes + entryBytes * options.grantedItems
      + connection.settings.replyBytesMax
  }

  var droppedCount: Int { connection.locked { dropped } }

  /// Keeps an event that arrived. Returns false if the other end had no credit for it.
  func arrived(_ frame: Frame) -> Bool {
    if ending != nil || isOver { return true }
    guard credit.arrived(frame.message.weight) else { return false }
    let next = Kept(message: frame.message, bytes: frame.keptBytes, dropped: Int(frame.head.a))
    kept.append(next)
    waitingBytes += next.bytes
    settle()
    return true
  }

  func grant(_ grant: (items: UInt32, bytes: UInt32)) {
    unsent.items = sum(unsent.items, grant.items)
    unsent.bytes = sum(unsent.bytes, grant.bytes)
  }

  /// Returns the credit that waits, which is sent now; nil if there is none.
  func takeUnsent() -> (items: UInt32, bytes: UInt32)? {
    if unsent.items == 0 { return nil }
    defer { unsent = (0, 0) }
    credit.sent(unsent)
    return unsent
  }

  /// Ends the stream. Reads return the waiting events first.
  func ended(_ result: Result<Void, any Error>, dropped: Int = 0) {
    if ending != nil || isOver { return }
    ending = result
    droppedAtEnd = dropped
    settle()
  }

  /// Waits for the next event. Returns the end if the task is cancelled. Refuses a task that reads
  /// while another one waits, which goes on.
  func next() async throws -> Next {
    let turn = Turn()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        connection.locked {
          if reader != nil {
            turn.isRefused = true
            let error = ClearwayError(
              .invalidArgument, "one task at a time may read a stream: channel=\(channel)")
            return connection.later { continuation.resume(throwing: error) }
          }
          // The cancellation may have come before.
          if Task.isCancelled { stop() }
          reader = (turn, continuation)
          settle()
        }
      }
    } onCancel: {
      connection.locked {
        if !turn.isRefused, reader == nil || reader?.turn === turn { stop() }
      }
    }
  }

  /// Ends the stream at both ends.
  func stop() {
    connection.locked {
      if isOver { return }
      let isOpen = ending == nil
      over()
      if isOpen { owner.stop(self) }
      settle()
    }
  }

  private func settle() {
    guard let continuation = reader?.continuation else { return }
    if !isOver, let next = kept.popFirst() {
      reader = nil
      waitingBytes -= next.bytes
      count(next.dropped)
      if let grant = credit.taken(next.message.weight), ending == nil { owner.grant(self, grant) }
      return connection.later { continuation.resume(returning: .event(next.message)) }
    }
    if !isOver, ending == nil { return }
    reader = nil
    // The first read after the last event has the error, and later reads the end.
    let result = isOver ? .success(()) : ending ?? .success(())
    if !isOver {
      count(droppedAtEnd)
      over()
    }
    connection.later { continuation.resume(with: result.map { .end }) }
  }

  private func count(_ more: Int) {
    if more == 0 { return }
    dropped = sum(dropped, more)
    if let onDrop = options.onDrop { connection.later { onDrop(more) } }
  }

  private func over() {
    isOver = true
    kept.removeAll()
    waitingBytes = 0
  }
}

/// Returns the sum of two numbers of which the other end may have sent one, or the largest number.
func sum<N: FixedWidthInteger>(_ one: N, _ other: N) -> N {
  let (sum, overflow) = one.addingReportingOverflow(other)
  return overflow ? .max : sum
}

/// The streams that this end listens to. The endpoint's lock guards it.
final class Subscriptions: @unchecked Sendable {
  private let connection: Connection
  private var open: [UInt32: Subscription] = [:]
  private var last: UInt32 = 0

  init(_ connection: Connection) { self.connection = connection }

  var count: Int { open.count }

  /// Starts a stream. Errors arrive through the stream.
  func listen(_ channel: String, _ arguments: [UInt8], _ options: ListenOptions) -> Subscription {
    let listen = Subscription(self, connection, channel, arguments, options)
    connection.locked {
      let callsMax = connection.settings.callsMax
      if connection.isOver {
        return listen.ended(.failure(connection.closedError("events of \(channel)")))
      }
      if open.count >= callsMax {
        return listen.ended(
          .failure(ClearwayError(.queueFull, "too many open streams: callsMax=\(callsMax)")))
      }
      repeat { last &+= 1 } while last == 0 || open[last] != nil
      listen.id = last
      open[last] = listen
      connection.push(listen)
    }
    return listen
  }

  func leave(_ listen: Subscription) {
    let options = listen.options
    let head = Head(
      op: Op.listen, flags: (options.whenFull?.rawValue ?? 0) << Flag.whenFullShift, id: listen.id,
      a: UInt32(options.grantedItems), b: UInt32(options.windowBytes),
      c: UInt16(options.capacity ?? 0))
    do throws(ClearwayError) {
      try connection.send(head, name: try connection.name(listen.channel), body: listen.arguments)
    } catch {
      open[listen.id] = nil
      listen.ended(.failure(error))
    }
  }

  func grant(_ listen: Subscription, _ grant: (items: UInt32, bytes: UInt32)) {
    listen.grant(grant)
    sendCredit(listen)
  }

  /// Sends credit that waits, because the transport has room again.
  func drain() {
    for listen in open.values { sendCredit(listen) }
  }

  /// Sends the credit of a stream.
  ///
  /// Without room, credit waits and adds up. Otherwise a peer that sends events and reads nothing
  /// would make one frame wait for each of them.
  private func sendCredit(_ listen: Subscription) {
    if connection.isCongested { return }
    guard let credit = listen.takeUnsent() else { return }
    connection.control(Head(op: Op.credit, id: listen.id, a: credit.items, b: credit.bytes))
  }

  func stop(_ listen: Subscription) {
    guard open[listen.id] === listen else { return }
    open[listen.id] = nil
    if !connection.withdraw(listen) { connection.control(Head(op: Op.stop, id: listen.id)) }
  }

  func event(_ frame: Frame) {
    guard let listen = open[frame.head.id] else { return }
    if !listen.mayWait {
      connection.broken("events with too many small attachments: \(listen.channel)")
    } else if !listen.arrived(frame) {
      connection.broken("an event without credit: \(listen.channel)")
    }
  }

  func end(_ frame: Frame) {
    guard let listen = open.removeValue(forKey: frame.head.id) else { return }
    let isDone = frame.head.a == Status.done.rawValue
    listen.ended(
      isDone
        ? .success(())
        : .failure(failure(frame, channel: listen.channel, valuesMax: connection.valuesMax)),
      dropped: Int(frame.head.b))
  }

  func closed() {
    for listen in open.values {
      listen.ended(.failure(connection.closedError("events of \(listen.channel)")))
    }
    open = [:]
  }
}
