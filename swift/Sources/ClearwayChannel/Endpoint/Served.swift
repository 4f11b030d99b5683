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
    if let error = error as? ClearwayError, error.code == .notImplemented, error.offset == nil {
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
