// SPDX-License-Identifier: MIT OR Apache-2.0

/// A call of this end. It settles once: by its answer, its caller, its deadline or the end of the
/// transport. The endpoint's lock guards it.
final class Call: QueuedRequest, @unchecked Sendable {
  fileprivate let calls: Calls
  let channel: String
  fileprivate var body: [UInt8]
  fileprivate let options: CallOptions
  fileprivate var id: UInt32 = 0
  fileprivate var continuation: CheckedContinuation<Received, any Error>?
  fileprivate var timer: ChannelTimer?
  fileprivate var isGivenUp = false

  fileprivate init(_ calls: Calls, _ channel: String, _ body: [UInt8], _ options: CallOptions) {
    self.calls = calls
    self.channel = channel
    self.body = body
    self.options = options
  }

  func leave() { calls.leave(self) }
}

/// The open calls of this end. The endpoint's lock guards it.
final class Calls: @unchecked Sendable {
  private let connection: Connection
  private var open: [UInt32: Call] = [:]
  private var last: UInt32 = 0
  /// The number of calls that were given up after they were sent, and whose replies may still
  /// arrive.
  private var late = 0
  /// The newest id at the time when a call was last counted in `late`.
  private var lateLast: UInt32 = 0
  private var whenIdle: [() -> Void] = []
  /// Called under the lock when `awaitsReplies` may have changed.
  var onChange: () -> Void = {}

  init(_ connection: Connection) { self.connection = connection }

  var count: Int { open.count }

  /// Whether a reply may still arrive, to an open call or to one that was given up.
  var awaitsReplies: Bool { !open.isEmpty || late > 0 }

  /// Sends a call and waits for the answer. Throws `CancellationError` if the task is cancelled.
  func call(_ channel: String, _ body: [UInt8], _ options: CallOptions) async throws -> Received {
    try checkTime("deadline", options.deadline)
    try checkTime("timeout", options.timeout)
    let call = Call(self, channel, body, options)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        connection.locked { start(call, continuation) }
      }
    } onCancel: {
      connection.locked { giveUp(call, .cancelled, CancellationError()) }
    }
  }

  private func start(_ call: Call, _ continuation: CheckedContinuation<Received, any Error>) {
    let callsMax = connection.settings.callsMax
    let refusal: (any Error)? =
      if call.isGivenUp {
        CancellationError()
      } else if connection.isOver {
        connection.closedError("call to \(call.channel)")
      } else if open.count >= callsMax {
        ClearwayError(.queueFull, "too many open calls: callsMax=\(callsMax)")
      } else {
        nil
      }
    if let refusal { return connection.later { continuation.resume(throwing: refusal) } }
    repeat { last &+= 1 } while last == 0 || open[last] != nil
    call.id = last
    call.continuation = continuation
    open[last] = call
    if open.count == 1 { onChange() }
    if let deadline = call.options.deadline {
      let ms = deadline.milliseconds
      call.timer = connection.settings.clock.after(ms) { [self] in
        let error = ClearwayError(.deadline, "no answer of \(call.channel) in \(ms) ms")
        connection.locked { giveUp(call, .cancelled, error) }
      }
    }
    connection.push(call)
  }

  fileprivate func leave(_ call: Call) {
    do throws(ClearwayError) {
      let head = Head(
        op: Op.call, id: call.id, a: onWire(call.options.deadline), b: onWire(call.options.timeout))
      try connection.send(head, name: try connection.name(call.channel), body: call.body)
      call.body = []
    } catch {
      settle(call, .failure(error))
    }
  }

  /// Settles the call that a reply answers. Drops the reply if the call has settled already.
  func reply(_ frame: Frame) {
    if late > 0 { countLate(frame.head.id) }
    guard let call = open[frame.head.id] else { return }
    if frame.head.a == Status.done.rawValue {
      settle(call, .success(frame.message))
    } else {
      settle(call, .failure(failure(frame, channel: call.channel, valuesMax: connection.valuesMax)))
    }
  }

  private func giveUp(_ call: Call, _ status: Status, _ error: any Error) {
    call.isGivenUp = true
    guard open[call.id] === call else { return }
    let wasSent = !connection.withdraw(call)
    if wasSent {
      late += 1
      lateLast = last
    }
    settle(call, .failure(error))
    if wasSent { connection.control(Head(op: Op.cancel, id: call.id, a: status.rawValue)) }
  }

  /// Updates `late` when a reply arrives.
  ///
  /// An end does not reply to a call whose cancel it has read, and replies keep their order. A
  /// reply to a call that was sent after the last cancel therefore follows all late replies.
  private func countLate(_ id: UInt32) {
    if open[id] == nil {
      late -= 1
    } else if Int32(bitPattern: id &- lateLast) > 0 {
      late = 0
    }
    if late == 0 { onChange() }
  }

  /// Fails all open calls, because the transport has closed.
  func closed() {
    for call in open.values {
      settle(call, .failure(connection.closedError("call to \(call.channel)")))
    }
  }

  /// Runs `act` when no call is open.
  func whenIdle(_ act: @escaping () -> Void) {
    if open.isEmpty { connection.later(act) } else { whenIdle.append(act) }
  }

  private func settle(_ call: Call, _ result: Result<Received, any Error>) {
    guard open[call.id] === call else { return }
    open[call.id] = nil
    call.timer?.stop()
    if let continuation = call.continuation {
      call.continuation = nil
      connection.later { continuation.resume(with: result) }
    }
    if open.isEmpty {
      onChange()
      for act in whenIdle { connection.later(act) }
      whenIdle = []
    }
  }
}

/// A time as a number on the wire, where 0 is without a limit.
private func onWire(_ time: Duration?) -> UInt32 {
  guard let time else { return 0 }
  let ms = max(1, time.milliseconds)
  return ms < Int64(UInt32.max) ? UInt32(ms) : 0
}

/// The posts of this end that wait until the transport has room. The endpoint's lock guards it.
final class Posts: @unchecked Sendable {
  private final class Post: QueuedRequest, @unchecked Sendable {
    let posts: Posts
    let channel: String
    let body: [UInt8]
    var continuation: CheckedContinuation<Void, any Error>?
    var isGivenUp = false

    init(_ posts: Posts, _ channel: String, _ body: [UInt8]) {
      self.posts = posts
      self.channel = channel
      self.body = body
    }

    func leave() { posts.leave(self) }
  }

  private let connection: Connection
  private var waiting: [ObjectIdentifier: Post] = [:]
  private var whenIdle: [() -> Void] = []

  init(_ connection: Connection) { self.connection = connection }

  var count: Int { waiting.count }

  /// Sends a message without a reply. Returns when the transport has accepted it.
  func post(_ channel: String, _ body: [UInt8]) async throws {
    let post = Post(self, channel, body)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        connection.locked { start(post, continuation) }
      }
    } onCancel: {
      connection.locked {
        post.isGivenUp = true
        if connection.withdraw(post) { settle(post, CancellationError()) }
      }
    }
  }

  private func start(_ post: Post, _ continuation: CheckedContinuation<Void, any Error>) {
    post.continuation = continuation
    waiting[ObjectIdentifier(post)] = post
    let callsMax = connection.settings.callsMax
    if post.isGivenUp {
      settle(post, CancellationError())
    } else if connection.isOver {
      settle(post, connection.closedError("post to \(post.channel)"))
    } else if waiting.count > callsMax {
      settle(post, ClearwayError(.queueFull, "too many waiting posts: callsMax=\(callsMax)"))
    } else {
      connection.push(post)
    }
  }

  private func leave(_ post: Post) {
    do throws(ClearwayError) {
      try connection.send(
        Head(op: Op.post), name: try connection.name(post.channel), body: post.body)
      settle(post, nil)
    } catch {
      settle(post, error)
    }
  }

  /// Runs `act` when no post waits.
  func whenIdle(_ act: @escaping () -> Void) {
    if waiting.isEmpty { connection.later(act) } else { whenIdle.append(act) }
  }

  private func settle(_ post: Post, _ error: (any Error)?) {
    waiting[ObjectIdentifier(post)] = nil
    if waiting.isEmpty {
      for act in whenIdle { connection.later(act) }
      whenIdle = []
    }
    guard let continuation = post.continuation else { return }
    post.continuation = nil
    connection.later {
      if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
  }

  func closed() {
    for post in waiting.values { settle(post, connection.closedError("post to \(post.channel)")) }
  }
}
