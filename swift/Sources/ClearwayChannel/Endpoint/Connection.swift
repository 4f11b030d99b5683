// SPDX-License-Identifier: MIT OR Apache-2.0

/// The connection to the other end after the hello: what all parts of an endpoint share.
///
/// It sends frames, and has no knowledge of calls and streams. Its lock guards the whole endpoint.
final class Connection: @unchecked Sendable {
  let settings: EndpointOptions
  let transport: any ChannelTransport
  let frameBytesMax: Int
  let nameBytesMax: Int
  let valuesMax: Int
  private let exposes: Bool

  private let lock = Lock()
  private var depth = 0
  private var deferred: [() -> Void] = []

  /// Why the connection has ended; nil while it is open.
  var reason: CloseReason?
  /// Whether this end starts no more calls, posts and streams.
  var isClosing = false
  /// Whether a `send` returned false, and `drained` was not called since.
  var isCongested = false
  /// The bytes of the frame that made the transport congested. The other end may have to read all of
  /// them before there is room.
  private(set) var fillingBytes = 0
  /// The bytes of the events that wait for the other end, and of their entries, over all streams.
  var queuedBytes = 0
  /// The requests that wait until the transport has room.
  private var outbox = Deque<QueuedRequest>()

  private static let valuesMax = 1 << 20
  private static let valuesMaxTrusted = 1 << 24

  init(_ transport: any ChannelTransport, _ settings: EndpointOptions, there: Hello) {
    self.transport = transport
    self.settings = settings
    frameBytesMax = min(transport.frameBytesMax, there.frameBytesMax)
    // Leaves at least half of the smallest frame for the other parts.
    nameBytesMax = min(
      settings.nameBytesMax, there.nameBytesMax, frameBytesMax - Hello.frameBytesMin / 2)
    valuesMax =
      settings.valuesMax ?? (transport.isTrusted ? Self.valuesMaxTrusted : Self.valuesMax)
    exposes = settings.exposeErrors ?? transport.isTrusted
  }

  var isOver: Bool { isClosing || reason != nil }

  /// Calls `body` under the lock. Runs what was deferred after the lock is released.
  @discardableResult
  func locked<R>(_ body: () -> R) -> R {
    lock.lock()
    depth += 1
    let result = body()
    depth -= 1
    if depth > 0 || deferred.isEmpty {
      lock.unlock()
      return result
    }
    let actions = deferred
    deferred = []
    lock.unlock()
    for act in actions { act() }
    return result
  }

  /// Runs `act` after the lock is released. The caller holds the lock.
  func later(_ act: @escaping () -> Void) { deferred.append(act) }

  /// Sends a frame that fits. The caller holds the lock.
  func control(_ head: Head, body: [UInt8] = []) {
    if reason != nil { return }
    pass(writeFrame(head, body: body))
  }

  /// Sends a frame. Throws `too-large` before anything is sent. The caller holds the lock.
  func send(_ head: Head, name: [UInt8] = [], body: [UInt8]) throws(ClearwayError) {
    if reason != nil { return }
    if let refusal = tooLarge(body, name.count) { throw refusal }
    pass(writeFrame(head, name: name, body: body))
  }

  private func pass(_ frame: [UInt8]) {
    if transport.send(frame) { return }
    // Control frames are sent also while the transport is congested. They are small.
    if !isCongested { fillingBytes = frame.count }
    isCongested = true
  }

  func tooLarge(_ body: [UInt8], _ nameBytes: Int = 0) -> ClearwayError? {
    if body.count + nameBytes + frameOverhead <= frameBytesMax { return nil }
    return ClearwayError(
      .tooLarge,
      "a message of \(body.count) bytes; the way to the other end takes frames of \(frameBytesMax)")
  }

  /// Returns a channel's name for sending.
  func name(_ name: String) throws(ClearwayError) -> [UInt8] {
    let bytes = Array(name.utf8)
    if bytes.count <= nameBytesMax { return bytes }
    throw ClearwayError(
      .invalidArgument, "name must have at most \(nameBytesMax) bytes: name=\(name)")
  }

  /// Encodes the error of a handler or a source. Calls the application's redactor, so the caller
  /// must not hold the lock.
  func errorBody(_ thrown: any Error, _ channel: String) -> [UInt8] {
    plainErrorBody(settings.redactError?(thrown, channel) ?? thrown)
  }

  /// Encodes an error of this library.
  func plainErrorBody(_ error: any Error) -> [UInt8] {
    writeError(error, bytesMax: frameBytesMax - frameOverhead - nameBytesMax, isWhole: exposes)
  }

  /// Ends the connection, because the other end violated the protocol.
  func broken(_ what: String) { transport.close(CloseReason(.protocolViolation, what)) }

  func closedError(_ what: String) -> ClearwayError {
    ClearwayError(.transportClosed, "\(what): \(reason?.message ?? "closing")", reason: reason)
  }

  func report(_ error: any Error, _ channel: String) { settings.onError(error, channel) }

  /// Sends a request now, or when the transport has room. The caller holds the lock.
  func push(_ request: QueuedRequest) {
    if outbox.isEmpty, !isCongested { request.leave() } else { outbox.append(request) }
  }

  /// Removes a request that was not sent yet.
  func withdraw(_ request: QueuedRequest) -> Bool {
    outbox.remove { $0 === request } != nil
  }

  func drainOutbox() {
    while !isCongested, let next = outbox.popFirst() { next.leave() }
  }

  func clearOutbox() { outbox.removeAll() }

  // MARK: Encoding

  /// The bytes of a message that a frame with the channel's name carries at most.
  func bytesMax(_ name: String) -> Int { frameBytesMax - frameOverhead - name.utf8.count }

  /// The bytes of an answer or an event, whose frame has no name.
  private var answerBytesMax: Int { frameBytesMax - frameOverhead }

  /// Encodes a request. Throws `too-large` as soon as no frame can carry it.
  func encode<C: MessageCodec>(_ codec: C, _ message: C.Message, to name: String) throws -> [UInt8]
  {
    try limited(codec, message, bytesMax(name))
  }

  func encode(_ codec: any MethodCodec, call: MethodCall, to name: String) throws(ClearwayError)
    -> [UInt8]
  {
    guard let codec = codec as? any LimitedMethodCodec else { return try codec.encode(call: call) }
    return try codec.encode(call: call, bytesMax: bytesMax(name))
  }

  /// Encodes an answer. Throws `too-large` as soon as no frame can carry it.
  func encode<C: MessageCodec>(_ codec: C, answer: C.Message) throws -> [UInt8] {
    try limited(codec, answer, answerBytesMax)
  }

  /// Encodes a result or an event.
  func encode(_ codec: any MethodCodec, result: Value) throws(ClearwayError) -> [UInt8] {
    guard let codec = codec as? any LimitedMethodCodec else {
      return try codec.encode(reply: .success(result))
    }
    return try codec.encode(reply: .success(result), bytesMax: answerBytesMax)
  }

  // MARK: Decoding

  /// Calls `body` with the message's bytes and its attachments.
  ///
  /// A message with the flag `whole` is the bytes of its only attachment, which any codec may read.
  private func opened<R>(
    _ message: Received,
    _ body: (UnsafeRawBufferPointer, Attachments?) throws(ClearwayError) -> R
  ) throws(ClearwayError) -> R {
    try within(message.bytes) { frame throws(ClearwayError) in
      if message.flags & Flag.whole != 0 {
        guard message.attachments.count == 1 else {
          throw ClearwayError(.malformed, "a message that is not one attachment", offset: 0)
        }
        return try body(UnsafeRawBufferPointer(rebasing: frame[message.attachments[0]]), nil)
      }
      let attachments =
        message.attachments.isEmpty
        ? nil
        : Attachments(frame: frame, ranges: message.attachments, bytesMax: frameBytesMax)
      return try body(UnsafeRawBufferPointer(rebasing: frame[message.body]), attachments)
    }
  }

  /// Returns a message with its attachments put back into it, for a codec that reads none, such as one
  /// of the application.
  private func whole(_ message: Received, _ extensions: Extensions? = nil) throws(ClearwayError)
    -> Received
  {
    let bytes = try opened(message) { bytes, attachments throws(ClearwayError) -> [UInt8]? in
      guard let attachments else { return nil }
      // A message, a call and a reply are each a sequence of values: the first byte of a reply reads as
      // null or true.
      let rules = StandardRules(.standard, extensions)
      var source = StandardReader(bytes, rules, valuesMax: valuesMax, attachments: attachments)
      var values: [Value] = []
      while source.reader.left > 0 {
        if values.count >= valuesMax {
          throw ClearwayError(
            .tooLarge, "more than \(valuesMax) values", offset: source.reader.at)
        }
        values.append(try source.value(0))
      }
      var writer = ByteWriter(bytesMax: frameBytesMax)
      for value in values { try writer.value(value, 0, rules) }
      return writer.finish()
    }
    if let bytes { return Received(bytes: bytes, body: 0..<bytes.count, flags: 0, attachments: []) }
    let body = message.flags & Flag.whole == 0 ? message.body : message.attachments[0]
    return Received(bytes: message.bytes, body: body, flags: 0, attachments: [])
  }

  /// Decodes a message, or the reply to one. An error names the channel, and `root` says which.
  func decode<C: MessageCodec>(_ codec: C, _ message: Received, _ channel: String, _ root: String)
    throws -> C.Message
  {
    if let codec = codec as? any ReceivingCodec {
      let value = try opened(message) { bytes, attachments throws(ClearwayError) -> Any in
        try codec.decode(bytes, valuesMax: valuesMax, attachments: attachments)
      }
      if let value = value as? C.Message { return value }
    }
    let plain = try whole(message, (codec as? any ExtendedCodec)?.extensions)
    return try plain.bytes.withUnsafeBytes {
      let bytes = UnsafeRawBufferPointer(rebasing: $0[plain.body])
      guard let counting = codec as? any CountingCodec else { return try codec.decode(bytes) }
      do {
        if let value = try counting.decode(bytes, valuesMax: valuesMax) as? C.Message {
          return value
        }
      } catch {
        throw misfit(error, channel, root) { try? counting.value(bytes, valuesMax) }
      }
      return try codec.decode(bytes)
    }
  }

  func decodeCall(_ codec: any MethodCodec, _ message: Received) throws(ClearwayError)
    -> MethodCall
  {
    guard let receiving = codec as? any ReceivingMethodCodec else {
      return try opened(whole(message)) { bytes, _ throws(ClearwayError) in
        try codec.decodeCall(bytes)
      }
    }
    return try opened(message) { bytes, attachments throws(ClearwayError) in
      try receiving.decodeCall(bytes, valuesMax: valuesMax, attachments: attachments)
    }
  }

  /// Decodes the result of a call straight from its reply. Returns nil for a failure, and for a reply
  /// with attachments.
  private func decodeResult<T: Decodable>(
    _ type: T.Type, _ rules: StandardRules, _ message: Received
  )
    throws
    -> T?
  {
    guard message.flags & Flag.whole == 0, message.attachments.isEmpty else { return nil }
    let limits = CodecLimits(
      validDepth: rules.limits.depthMax, items: min(rules.limits.itemsMax, valuesMax))
    return try message.bytes.withUnsafeBytes { frame in
      let bytes = UnsafeRawBufferPointer(rebasing: frame[message.body])
      guard bytes.first == Envelope.success else { return nil }
      return try decodeMessage(
        type, bytes, from: 1, StandardRules(limits, rules.extensions))
    }
  }

  /// Decodes a result or an event as a type of the application. An error names the channel and the
  /// method, and `root` says what arrived.
  func decode<T: Decodable>(
    _ type: T.Type, _ codec: any MethodCodec, _ message: Received, _ channel: String,
    method: String? = nil, _ root: String
  ) throws -> T {
    do {
      if let rules = (codec as? StandardMethodCodec)?.rules,
        let result = try decodeResult(type, rules, message)
      {
        return result
      }
      let value = try decodeReply(codec, message, channel)
      // The type may copy an attachment for each place that names it.
      if !message.attachments.isEmpty, value.listBytes > frameBytesMax {
        throw ClearwayError.tooLarge(frameBytesMax)
      }
      return try ValueDecoder().decode(type, from: value)
    } catch {
      throw misfit(error, method.map { "\(channel).\($0)" } ?? channel, root) {
        try? decodeReply(codec, message, channel)
      }
    }
  }

  func decodeReply(_ codec: any MethodCodec, _ message: Received, _ channel: String) throws -> Value
  {
    let reply: MethodReply =
      if let receiving = codec as? any ReceivingMethodCodec {
        try opened(message) { bytes, attachments throws(ClearwayError) in
          try receiving.decodeReply(bytes, valuesMax: valuesMax, attachments: attachments)
        }
      } else {
        try opened(whole(message)) { bytes, _ throws(ClearwayError) in
          try codec.decodeReply(bytes)
        }
      }
    switch reply {
    case .success(let value): return value
    case .none:
      throw ClearwayError(
        replied: .notImplemented, "\(channel): the other end has no such method")
    case .failure(let code, let message, let details, let stack):
      throw RemoteError(
        code: code, message: message ?? "", details: details, channel: channel,
        stack: stack.flatMap { $0 })
    }
  }
}

/// A request of this end that may wait until the transport has room.
protocol QueuedRequest: AnyObject {
  /// Sends the request, or fails it. Called under the lock.
  func leave()
}

/// Writes a line to the standard error.
func printError(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  bytes.withUnsafeBytes { _ = System.write(2, $0) }
}
