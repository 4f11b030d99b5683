// SPDX-License-Identifier: MIT OR Apache-2.0

/// In which order a handler serves the requests of a channel.
public enum HandlerOrder: Sendable {
  /// One after the other, in the order in which they arrived.
  case inOrder
  /// All at the same time.
  case concurrent
}

/// A channel of single messages. Each may have a reply. Both ends may send and handle.
public struct MessageChannel<Codec: MessageCodec>: Sendable {
  let core: Core
  /// The channel's name.
  public let name: String
  let codec: Codec

  /// Sends a message and returns the reply, or nil for a reply without a value.
  ///
  /// Throws the codec's errors, a ``RemoteError``, a ``ClearwayError`` such as
  /// ``ClearwayError/Code/noHandler`` or ``ClearwayError/Code/deadline``, and `CancellationError` if
  /// the task is cancelled, which cancels the call at the other end, too. A reply that does not have
  /// the type of the messages is ``ClearwayError/Code/protocolViolation``, which names the channel.
  public func send(_ message: Codec.Message, options: CallOptions = CallOptions()) async throws
    -> Codec.Message?
  {
    let answer = try await core.calls.call(
      name, try core.connection.encode(codec, message, to: name), options)
    if answer.flags & Flag.empty != 0 { return nil }
    return try core.connection.decode(codec, answer, name, "reply")
  }

  /// Sends a message without a reply. Returns when the transport has accepted it.
  public func post(_ message: Codec.Message) async throws {
    try await core.posts.post(name, try core.connection.encode(codec, message, to: name))
  }

  /// Handles the other end's messages, those that came earlier first.
  ///
  /// An error of the handler crosses to the sender; throw a ``RemoteError`` to choose its code. Throws
  /// ``ClearwayError/Code/invalidArgument`` if the channel has a handler.
  @discardableResult
  public func handle(
    _ order: HandlerOrder = .inOrder,
    _ handler: @escaping @Sendable (Codec.Message, HandlerContext) async throws -> Codec.Message?
  ) throws(ClearwayError) -> HandlerRegistration {
    let (connection, codec) = (core.connection, codec)
    return try HandlerRegistration(
      core, name,
      RequestHandler(order) { served in
        do {
          let message = try connection.decode(codec, served.message, served.channel, "message")
          guard let reply = try await handler(message, served.context) else {
            return served.answer(.done, flags: Flag.empty)
          }
          try served.answer { try connection.encode(codec, answer: reply) }
        } catch {
          served.fail(error)
        }
      })
  }
}

/// A channel of methods. Both ends may call and handle.
public struct MethodChannel: Sendable {
  let core: Core
  /// The channel's name.
  public let name: String
  let codec: any MethodCodec

  /// Calls a method and returns its result.
  ///
  /// Throws as ``MessageChannel/send(_:options:)`` does, or
  /// ``ClearwayError/Code/notImplemented``.
  public func call(
    _ method: String, _ arguments: Value = .null, options: CallOptions = CallOptions()
  ) async throws -> Value {
    let body = try core.connection.encode(codec, call: MethodCall(method, arguments), to: name)
    let answer = try await core.calls.call(name, body, options)
    return try core.connection.decodeReply(codec, answer, name)
  }

  /// Calls a method with arguments and a result of your own types.
  ///
  /// A result of another type, or a number that does not fit, is
  /// ``ClearwayError/Code/protocolViolation``, which names the channel, the method, the place and
  /// the kind of the value.
  public func call<Result: Decodable>(
    _ method: String, _ arguments: some Encodable, returning: Result.Type = Result.self,
    options: CallOptions = CallOptions()
  ) async throws -> Result {
    let body: [UInt8]
    if let standard = codec as? StandardMethodCodec {
      body = try standard.encode(
        method, arguments, bytesMax: core.connection.bytesMax(name))
    } else {
      let value = try ValueEncoder().encode(arguments)
      body = try core.connection.encode(codec, call: MethodCall(method, value), to: name)
    }
    let answer = try await core.calls.call(name, body, options)
    return try core.connection.decode(
      Result.self, codec, answer, name, method: method, "result")
  }

  /// Handles the other end's calls. Throw ``ClearwayError/Code/notImplemented`` for other methods.
  @discardableResult
  public func handle(
    _ order: HandlerOrder = .concurrent,
    _ handler: @escaping @Sendable (MethodCall, HandlerContext) async throws -> Value
  ) throws(ClearwayError) -> HandlerRegistration {
    let (connection, codec) = (core.connection, codec)
    return try HandlerRegistration(
      core, name,
      RequestHandler(order) { served in
        do {
          let call = try connection.decodeCall(codec, served.message)
          let result = try await handler(call, served.context)
          try served.answer { try connection.encode(codec, result: result) }
        } catch {
          served.fail(error)
        }
      })
  }
}

/// Runs a handler in a task for each request, or in one task for all.
private final class RequestHandler: ChannelHandler, @unchecked Sendable {
  private let order: HandlerOrder
  private let body: @Sendable (Served) async -> Void
  private let lock = Lock()
  private var waiting = Deque<Served>()
  private var isRunning = false

  init(_ order: HandlerOrder, _ body: @escaping @Sendable (Served) async -> Void) {
    self.order = order
    self.body = body
  }

  func request(_ served: Served) {
    if order == .concurrent { return served.start(body) }
    served.isInLine = true
    let mustStart = lock.held {
      waiting.append(served)
      defer { isRunning = true }
      return !isRunning
    }
    if mustStart { Task.detached { await self.run() } }
  }

  private func run() async {
    while let next = next() { await next.run(body) }
  }

  private func next() -> Served? {
    lock.held {
      let next = waiting.popFirst()
      isRunning = next != nil
      return next
    }
  }
}
