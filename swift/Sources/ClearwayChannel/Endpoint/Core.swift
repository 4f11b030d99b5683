// SPDX-License-Identifier: MIT OR Apache-2.0

/// Owns the parts of an endpoint, and passes each frame that arrives to the right one.
final class Core: @unchecked Sendable {
  let connection: Connection
  let calls: Calls
  let posts: Posts
  let replies: Replies
  let router: RequestRouter
  let subscriptions: Subscriptions
  let publishers: Publishers
  private var closedWaiters: [CheckedContinuation<CloseReason, Never>] = []
  /// Who came first when there was room for the last time.
  private var turn = 0

  init(_ transport: any ChannelTransport, _ settings: EndpointOptions, there: Hello) {
    connection = Connection(transport, settings, there: there)
    calls = Calls(connection)
    posts = Posts(connection)
    replies = Replies(connection)
    router = RequestRouter(connection, replies)
    subscriptions = Subscriptions(connection)
    publishers = Publishers(connection, router)
    replies.mayPause = { [weak self] in self?.calls.awaitsReplies == false }
    replies.onRoom = { [weak self] in self?.router.release() }
    replies.onStalled = { [weak self] reason in self?.terminate(reason) }
    calls.onChange = { [weak self] in self?.replies.updatePause() }
  }

  func frame(_ bytes: [UInt8]) {
    connection.locked {
      // The transport may still deliver frames after the connection has ended.
      if connection.reason != nil { return }
      guard let frame = readFrame(bytes) else {
        return connection.broken("received \(bytes.count) bytes that are not a frame")
      }
      route(frame)
    }
  }

  private func route(_ frame: Frame) {
    switch frame.head.op {
    case Op.call, Op.post:
      guard let channel = channel(frame) else { return }
      router.request(frame, channel, isWanted: frame.head.op == Op.call)
    case Op.reply: calls.reply(frame)
    case Op.cancel: router.cancel(frame.head.id)
    case Op.listen:
      guard let channel = channel(frame) else { return }
      publishers.request(frame, channel)
    case Op.event: subscriptions.event(frame)
    case Op.end: subscriptions.end(frame)
    case Op.credit: publishers.credit(frame)
    case Op.stop: publishers.cancel(frame.head.id)
    default: connection.broken("a frame of kind \(frame.head.op)")
    }
  }

  private func channel(_ frame: Frame) -> String? {
    if frame.name.count <= connection.settings.nameBytesMax {
      let name = frame.bytes.withUnsafeBytes { bytes in
        try? StringCodec().decode(UnsafeRawBufferPointer(rebasing: bytes[frame.name]))
      }
      if let name { return name }
    }
    connection.broken("a channel's name of \(frame.name.count) bytes that cannot be read")
    return nil
  }

  func drained() {
    connection.locked {
      connection.isCongested = false
      subscriptions.drain()
      // Each comes first in turn, because what waits in one of them may take all the room every time.
      turn = (turn + 1) % 3
      for next in turn..<turn + 3 {
        switch next % 3 {
        case 0: router.drain()
        case 1: publishers.drain()
        default: connection.drainOutbox()
        }
      }
    }
  }

  func ended(_ reason: CloseReason) {
    connection.locked {
      if connection.reason != nil { return }
      connection.reason = reason
      connection.clearOutbox()
      posts.closed()
      calls.closed()
      subscriptions.closed()
      publishers.closed(nil)
      router.closed()
      let waiters = closedWaiters
      closedWaiters = []
      connection.later { for waiter in waiters { waiter.resume(returning: reason) } }
    }
  }

  func closed() async -> CloseReason {
    await withCheckedContinuation { continuation in
      connection.locked {
        if let reason = connection.reason {
          return connection.later { continuation.resume(returning: reason) }
        }
        closedWaiters.append(continuation)
      }
    }
  }

  /// Ends the streams that this end serves, waits for the calls of both directions and for the posts that
  /// wait for room, then closes.
  func close(timeoutMs: Int64) {
    connection.locked {
      if connection.isClosing || connection.reason != nil { return }
      connection.isClosing = true
      publishers.closed(.cancelled)
      router.refuseEarly()
      let late = connection.settings.clock.after(timeoutMs) { [self] in terminate(.closed) }
      posts.whenIdle { [self] in
        connection.locked {
          calls.whenIdle { [self] in
            connection.locked {
              router.finish { [self] in
                late.stop()
                terminate(.closed)
              }
            }
          }
        }
      }
    }
  }

  func terminate(_ reason: CloseReason) {
    connection.transport.close(reason)
    ended(reason)
  }
}

/// Receives the frames of a transport: the hello, and then those of the endpoint.
final class Handshake: ChannelSink, @unchecked Sendable {
  private let transport: any ChannelTransport
  private let settings: EndpointOptions
  private let lock = Lock()
  private var continuation: CheckedContinuation<Core, any Error>?
  private var timer: ChannelTimer?
  private var isOver = false
  /// Only the transport's calls, which come one at a time, read and write it.
  private var core: Core?

  init(_ transport: any ChannelTransport, _ settings: EndpointOptions) {
    self.transport = transport
    self.settings = settings
  }

  /// Sends this end's hello and waits for the other end's.
  func connect() async throws -> Core {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = lock.held {
          if !isOver { self.continuation = continuation }
          return isOver
        }
        if isCancelled { return continuation.resume(throwing: CancellationError()) }
        begin()
      }
    } onCancel: {
      refuse(CancellationError(), .closed)
    }
  }

  private func begin() {
    if let limit = settings.helloTimeout {
      let timer = settings.clock.after(limit.milliseconds) { [self] in
        let what = "no hello from the other end in \(limit)"
        refuse(ClearwayError(.deadline, what), CloseReason(.timeout, what))
      }
      lock.held { self.timer = timer }
    }
    transport.open(self)
    let hello = Hello(
      frameBytesMax: transport.frameBytesMax, nameBytesMax: settings.nameBytesMax,
      callsMax: settings.callsMax)
    _ = transport.send(hello.frame())
  }

  func frame(_ bytes: [UInt8]) {
    if let core { return core.frame(bytes) }
    guard let there = readFrame(bytes).flatMap(Hello.init) else {
      return violated("the other end said no hello")
    }
    if there.version != Hello.version {
      return violated(
        "the other end speaks version \(there.version) of the wire, and this one \(Hello.version)")
    }
    if there.wires & Hello.clearway == 0 { return violated("no wire in common with the other end") }
    if there.frameBytesMax < Hello.frameBytesMin {
      return violated("the other end takes frames of \(there.frameBytesMax) bytes only")
    }
    guard let continuation = take() else { return }
    let core = Core(transport, settings, there: there)
    self.core = core
    continuation.resume(returning: core)
  }

  func drained() { core?.drained() }

  func closed(_ reason: CloseReason) {
    if let core { return core.ended(reason) }
    take()?.resume(
      throwing: ClearwayError(
        .transportClosed, "before the hello: \(reason.message)", reason: reason))
  }

  private func violated(_ what: String) {
    refuse(ClearwayError(.protocolViolation, what), CloseReason(.protocolViolation, what))
  }

  private func refuse(_ error: any Error, _ reason: CloseReason) {
    let (continuation, timer, isFirst) = lock.held {
      defer {
        isOver = true
        self.continuation = nil
      }
      return (self.continuation, self.timer, !isOver)
    }
    if !isFirst { return }
    timer?.stop()
    transport.close(reason)
    continuation?.resume(throwing: error)
  }

  private func take() -> CheckedContinuation<Core, any Error>? {
    lock.held {
      isOver = true
      timer?.stop()
      defer { continuation = nil }
      return continuation
    }
  }
}
