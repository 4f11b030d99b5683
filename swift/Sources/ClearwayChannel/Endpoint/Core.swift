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
      router.drain()
      publishers.drain()
      connection.drainOutbox()
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

  /// Ends the streams that this end serves, waits for the calls of both directions, then closes.
  func close(timeoutMs: Int64) {
    connection.locked {
      if connection.isClosing || connection.reason != nil { return }
      connection.isClosing = true
      publishers.closed(.cancelled)
      router.refuseEarly()
      let late = connection.settings.clock.after(timeoutMs) { [self] in terminate(.closed) }
      calls.whenIdle { [self] in
        connection.locked {
          router.whenIdle { [self] in
            late.stop()
            terminate(.closed)
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
