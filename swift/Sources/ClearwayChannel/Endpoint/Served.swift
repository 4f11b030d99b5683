// SPDX-License-Identifier: MIT OR Apache-2.0

/// What a handler knows about the request that it serves.
///
/// A cancelled request cancels the handler's task.
public struct HandlerContext: Sendable {
  /// The channel's name.
  public let channel: String
  /// How long the caller waits, from the arrival of the call; nil without a limit.
  public let deadline: Duration?
  /// Whether the other end wants an answer.
  public let isAnswerWanted: Bool
}

/// A call or a post of the other end. Only its first answer is sent. The endpoint's lock guards it.
final class Served: @unchecked Sendable {
  private enum Phase {
    case waits
    case runs
    case ended
  }

  private let connection: Connection
  private let router: RequestRouter
  let id: UInt32
  private(set) var message: Received
  let context: HandlerContext
  private let timeoutMs: Int64
  private(set) var isSettled = false
  private var phase = Phase.waits
  private var isAnswerQueued = false
  private var isCancelled = false
  /// Whether the request waits in the line of its handler, which ends it if it was settled there.
  var isInLine = false
  private var timer: ChannelTimer?
  private var task: Task<Void, Never>?

  init(
    _ connection: Connection, _ router: RequestRouter, _ frame: Frame, _ channel: String,
    isWanted: Bool
  ) {
    self.connection = connection
    self.router = router
    id = frame.head.id
    message = frame.message
    // Only a call has limits of time. In other frames, a reader ignores these fields.
    timeoutMs = isWanted ? Int64(frame.head.b) : 0
    let deadlineMs = isWanted ? frame.head.a : 0
    context = HandlerContext(
      channel: channel, deadline: deadlineMs == 0 ? nil : .milliseconds(Int64(deadlineMs)),
      isAnswerWanted: isWanted)
  }

  var channel: String { context.channel }
  var isWanted: Bool { context.isAnswerWanted }

  /// Starts the handler in a task of its own. The caller holds the lock.
  func start(_ handler: @escaping @Sendable (Served) async -> Void) {
    begin()
    task = Task.detached { [self] in
      await handler(self)
      connection.locked { ended() }
    }
    if isCancelled { task?.cancel() }
  }

  /// Marks that the handler is about to run, and starts the timeout. The caller holds the lock.
  private func begin() {
    phase = .runs
    if timeoutMs == 0 || isSettled { return }
    timer = connection.settings.clock.after(timeoutMs) { [self] in
      connection.locked {
        if isSettled { return }
        answer(.timeout)
        cancel()
      }
    }
  }

  /// Runs the handler in the caller's task, which serves the requests of a channel in their order.
  func run(_ handler: @escaping @Sendable (Served) async -> Void) async {
    let task: Task<Void, Never>? = connection.locked {
      if isSettled {
        ended()
        return nil
      }
      start(handler)
      return self.task
    }
    await task?.value
  }

  /// Marks that no handler runs or will run. The caller holds the lock.
  func ended() {
    phase = .ended
    release()
  }

  /// Cancels the request. It is settled without an answer unless it has one.
  func cancel() {
    isCancelled = true
    if let task { connection.later { task.cancel() } }
    settle()
    release()
  }

  func answer(_ status: Status, _ body: [UInt8] = [], flags: UInt8 = 0) {
    connection.locked {
      if settle(), isWanted {
        isAnswerQueued = true
        send(status, body, flags)
      }
      release()
    }
  }

  /// Answers with a value. The caller must not hold the lock.
  ///
  /// The handler has ended, and cannot learn that no frame carries the value: that is reported.
  func answer(_ encode: () throws -> [UInt8]) throws {
    do {
      answer(.done, try encode())
    } catch let error as ClearwayError where error.code == .tooLarge {
      if connection.locked({ isSettled }) { return }
      connection.report(error, channel)
      answer(.error, connection.plainErrorBody(error))
    }
  }

  /// Answers with the handler's error. The caller must not hold the lock.
  func fail(_ error: any Error) {
    if !isWanted {
      if !connection.locked({ isSettled }) { connection.report(error, channel) }
      return answer(.done)
    }
    if let error = error as? ClearwayError, error.code == .notImplemented, error.offset == nil,
      !error.isReply
    {
      return answer(.notImplemented)
    }
    if connection.locked({ isSettled }) { return }
    answer(.error, connection.errorBody(error, channel))
  }

  private func send(_ status: Status, _ body: [UInt8], _ flags: UInt8) {
    var (status, body, flags) = (status, body, flags)
    if let error = connection.tooLarge(body) {
      connection.later { [self] in connection.report(error, channel) }
      (status, body, flags) = (.error, connection.plainErrorBody(error), 0)
    }
    let head = Head(op: Op.reply, flags: flags, id: id, a: status.rawValue)
    router.replies.send(head, body) { [self] in
      isAnswerQueued = false
      release()
    }
    router.checkIdle()
  }

  @discardableResult
  private func settle() -> Bool {
    if isSettled { return false }
    isSettled = true
    timer?.stop()
    router.settled(self)
    return true
  }

  private func release() {
    guard isSettled, phase == .ended || (phase == .waits && !isInLine) else { return }
    // No handler reads it any more. The answer may wait for long.
    message = Received(bytes: [], body: 0..<0, flags: 0, attachments: [])
    if !isAnswerQueued { router.finished(self) }
  }
}

/// The replies that wait while the transport has no room. They are charged to the other end.
///
/// At the limit no further handler starts, and the transport pauses unless this end waits for an
/// answer. If the other end then reads no reply for the stall time, or for the stall time per MiB while
/// a larger message leaves, the connection closes. The endpoint's lock guards it.
final class Replies: @unchecked Sendable {
  private struct Reply {
    let head: Head
    let body: [UInt8]
    let onDone: () -> Void

    // The request is kept until its answer was sent.
    var bytes: Int { requestBytes + body.count }
  }

  private let connection: Connection
  private var waiting = Deque<Reply>()
  private var isPaused = false
  private var stalled: ChannelTimer?
  private(set) var bytes = 0
  private(set) var isFull = false
  /// Whether the transport may pause: this end waits for no answer.
  var mayPause: () -> Bool = { true }
  /// Called when half of the limit is free again.
  var onRoom: () -> Void = {}
  /// Ends the connection at once.
  var onStalled: (CloseReason) -> Void = { _ in }

  /// The refusals that may wait besides the answers of `callsMax` calls.
  private static let refusalsMax = 8192
  /// The part of a large message for which a peer has the stall time, in bytes. By the default, a peer that
  /// reads 35 KB/s is not disconnected. How much of a message has left is not known.
  private static let stallBytes = 1 << 20

  init(_ connection: Connection) { self.connection = connection }

  var isEmpty: Bool { waiting.isEmpty }

  /// Sends a reply now or when the transport has room. Calls `onDone` when it was sent or dropped.
  func send(_ head: Head, _ body: [UInt8], _ onDone: @escaping () -> Void = {}) {
    if connection.reason != nil { return onDone() }
    if waiting.isEmpty, !connection.isCongested {
      connection.control(head, body: body)
      return onDone()
    }
    let reply = Reply(head: head, body: body, onDone: onDone)
    waiting.append(reply)
    bytes += reply.bytes
    if waiting.count > connection.settings.callsMax + Self.refusalsMax {
      disconnect("reads no answers and goes on calling")
    } else if bytes >= connection.settings.replyBytesMax {
      if !isFull { startStallTimer() }
      isFull = true
      updatePause()
    }
  }

  func updatePause() {
    let pause = isFull && mayPause()
    if pause == isPaused || connection.reason != nil { return }
    isPaused = pause
    if pause { connection.transport.pause() } else { connection.transport.resume() }
  }

  func drain() {
    var sent = false
    while !connection.isCongested, let reply = waiting.popFirst() {
      bytes -= reply.bytes
      sent = true
      connection.control(reply.head, body: reply.body)
      reply.onDone()
    }
    guard isFull, sent else { return }
    stalled?.stop()
    if bytes * 2 > connection.settings.replyBytesMax { return startStallTimer() }
    isFull = false
    updatePause()
    onRoom()
  }

  /// Drops the waiting replies, because the connection has ended.
  func clear() {
    stalled?.stop()
    isFull = false
    bytes = 0
    while let reply = waiting.popFirst() { reply.onDone() }
  }

  private func startStallTimer() {
    guard let limit = connection.settings.stallTimeout else { return }
    let times = Int64((connection.fillingBytes - 1) / Self.stallBytes + 1)
    let ms = min(limit.milliseconds, .max / times) * times
    stalled = connection.settings.clock.after(ms) { [weak self] in
      guard let self else { return }
      connection.locked { if isFull { disconnect("has read no answer for \(ms) ms") } }
    }
  }

  private func disconnect(_ what: String) {
    onStalled(CloseReason(.timeout, "the other end \(what): \(bytes) bytes of answers wait"))
  }
}
