// SPDX-License-Identifier: MIT OR Apache-2.0
@testable import ClearwayChannel
import Testing

/// A value that is small in memory and large in a message.
private struct Page: Hashable, Codable, Sendable {
  static let bytes = 16_000
}

/// The pages of a message that were written.
private let written = Guarded(0)

@Suite("A small value that makes a huge message", .timeLimit(.minutes(2)), .serialized)
struct AmplificationTests {
  /// 10,000 places share one list of 16,000 bytes: 160 MB as a message.
  private static let shared = Value.list(
    [Value](repeating: .bytes([UInt8](repeating: 7, count: Page.bytes)), count: 10_000))
  private static let pages = Value.list([Value](repeating: Value(custom: Page()), count: 10_000))
  /// The pages that a frame of 1 MiB holds, and the one that does not fit.
  private static let pagesMax = (1 << 20) / Page.bytes + 1

  private static func page() throws -> CodecExtension {
    try CodecExtension(tag: 200, Page.self) { _, writer in
      written.update { $0 += 1 }
      writer.bytes([UInt8](repeating: 7, count: Page.bytes))
    } read: { reader in
      _ = try reader.bytes(Page.bytes)
      return Page()
    }
  }

  private func connectedByMegabytes(_ there: EndpointOptions = EndpointOptions()) async throws -> (
    Endpoint, Endpoint
  ) {
    try await connected(there: there, limits: try TransportLimits(frameBytesMax: 1 << 20))
  }

  /// Runs `body`, which must end with the code, and returns how many pages it has written.
  private func pages(_ expected: String = "too-large", _ body: () async throws -> Void) async -> Int
  {
    written.update { $0 = 0 }
    do {
      try await body()
      Issue.record("no error")
    } catch let error as RemoteError {
      #expect(error.code == expected)
    } catch {
      #expect((error as? ClearwayError)?.code.rawValue == expected)
    }
    return written.value
  }

  @Test("A writer refuses what exceeds its limit before it has memory for it")
  func writer() throws {
    let most = 100_000
    for isJSON in [false, true] {
      var writer = ByteWriter(bytesMax: most)
      var refusal: ClearwayError?
      do throws(ClearwayError) {
        if isJSON {
          try writer.json(Self.shared, 0, 8)
        } else {
          try writer.value(Self.shared, 0, StandardRules(.standard))
        }
      } catch {
        refusal = error
      }
      let (count, capacity) = (writer.count, writer.capacity)
      #expect(refusal?.code == .tooLarge)
      #expect(count <= most && capacity <= most)
    }
  }

  @Test("A message that has exactly the limit is written", arguments: [1, 3, 511, 512, 513, 5000])
  func exact(count: Int) throws {
    let bytes = Value.bytes([UInt8](repeating: 1, count: count))
    let digits = Value.string(String(repeating: "1", count: count))
    let numbers = Value.list([Value](repeating: 123, count: count))
    func check(_ codec: some MessageCodec<Value>, _ value: Value) throws {
      let whole = try codec.encode(value)
      #expect(try limited(codec, value, whole.count) == whole)
      #expect(throws: ClearwayError.tooLarge(whole.count - 1)) {
        _ = try limited(codec, value, whole.count - 1)
      }
    }
    for value in [bytes, digits, numbers] {
      try check(StandardMessageCodec(), value)
      try check(JSONMessageCodec(), value)
    }
  }

  @Test("A reply, an event and a request are refused after as many bytes as a frame has")
  func everyMessage() async throws {
    let reported = Guarded(0)
    var options = EndpointOptions()
    options.onError = { _, _ in reported.update { $0 += 1 } }
    let (here, there) = try await connectedByMegabytes(options)
    let codec = try StandardMessageCodec(extensions: [try Self.page()])
    let methods = try StandardMethodCodec(extensions: [try Self.page()])
    try there.messages("m", codec: codec).handle { _, _ in Self.pages }
    try there.messages("typed", codec: codec.of([Page].self)).handle { _, _ in
      [Page](repeating: Page(), count: 10_000)
    }
    try there.methods("f", codec: methods).handle { _, _ in Self.pages }
    try there.events("e", codec: methods).serve { _, sink in try await sink.send(Self.pages) }
    try there.events("each", codec: methods).serve { _ in
      AsyncStream { source in
        source.yield(Self.pages)
        source.finish()
      }
    }
    let (m, f) = (try here.messages("m", codec: codec), try here.methods("f", codec: methods))
    let typed = try here.messages("typed", codec: codec.of([Page].self))
    let counts = [
      await pages { _ = try await m.send(1) },
      await pages { _ = try await typed.send([]) },
      await pages { _ = try await f.call("f") },
      await pages { _ = try await here.events("e", codec: methods).listen().first { _ in true } },
      await pages {
        _ = try await here.events("each", codec: methods).listen().first { _ in true }
      },
      await pages { _ = try await m.send(Self.pages) },
      await pages { try await m.post(Self.pages) },
      await pages { try await typed.post([Page](repeating: Page(), count: 10_000)) },
      await pages { _ = try await f.call("f", Self.pages) },
      await pages {
        let many = [Page](repeating: Page(), count: 10_000)
        _ = try await f.call("f", many, returning: Int.self)
      },
      await pages { _ = try here.events("e", codec: methods).listen(Self.pages) },
    ]
    #expect(counts == [Int](repeating: Self.pagesMax, count: counts.count))
    // The three replies, because their handlers have ended.
    #expect(reported.value == 3)
    #expect(here.stats().calls == 0)
    await here.close()
  }

  @Test("An error whose details are too large crosses without them")
  func details() async throws {
    let (here, there) = try await connectedByMegabytes()
    try there.methods("f").handle { _, _ in
      throw RemoteError(code: "mine", message: "m", details: Self.shared)
    }
    await #expect(
      throws: RemoteError(code: "mine", message: "m", details: nil, channel: "f", stack: nil)
    ) { _ = try await here.methods("f").call("x") }
    await here.close()
  }

  @Test("An attachment that a message names many times is charged for each place of an echo")
  func attachments() async throws {
    let (endpoint, bare) = try await besideBare()
    try endpoint.messages("m").handle { message, _ in message }
    try endpoint.messages("own", codec: StandardMessageCodec().of([[Int]].self)).handle {
      message, _ in message
    }
    try endpoint.methods("f").handle { call, _ in
      throw RemoteError(code: "mine", message: "m", details: call.arguments)
    }
    let places = (0..<10_000).flatMap { _ in [127, 8, 0] as [UInt8] }
    let list: [UInt8] = [12, 254, 0x10, 0x27] + places
    func send(_ op: UInt8, _ id: UInt32, _ name: String, _ body: [UInt8]) {
      let head = Head(op: op, id: id)
      _ = bare.transport.send(frameWithAttachments(head, [Page.bytes], name: name, body: body))
    }
    send(Op.call, 1, "m", list)
    send(Op.call, 2, "own", list)
    send(Op.call, 3, "f", [7, 1, 120] + list)
    await eventually { bare.received(Op.reply).count == 3 }
    var codes: [UInt32: String] = [:]
    for reply in bare.received(Op.reply) {
      codes[reply.head.id] =
        (readError(reply.message, channel: "", valuesMax: 100) as? RemoteError)?.code
    }
    #expect(codes == [1: "too-large", 2: "too-large", 3: "mine"])

    async let result = code {
      _ = try await endpoint.methods("f").call("x", 0, returning: [[Int]].self)
    }
    await eventually { bare.received(Op.call).count == 1 }
    send(Op.reply, bare.received(Op.call)[0].head.id, "", [0] + list)
    #expect(await result == .tooLarge)
    await endpoint.close()
  }
}

@Suite("A peer of the smallest messages", .timeLimit(.minutes(2)))
struct SmallestTests {
  @Test("Early messages without a body are charged their objects")
  func early() async throws {
    var options = EndpointOptions()
    options.earlyBytesMax = 100 * requestBytes
    let (endpoint, bare) = try await besideBare(options)
    try endpoint.methods("last").handle { _, _ in nil }
    for number in 1000..<1400 { bare.send(Head(op: Op.post), name: "\(number)") }
    let call = try StandardMethodCodec().encode(call: MethodCall("x"))
    bare.send(Head(op: Op.call, id: 1), name: "last", body: call)
    await eventually { bare.received(Op.reply).count == 1 }
    // A request counts 512 bytes, and its name twice.
    await eventually { endpoint.stats().handling == 100 * requestBytes / (requestBytes + 8) }
    await endpoint.close(timeout: .zero)
  }

  @Test("Requests without a body that wait for room are charged their objects")
  func held() async throws {
    var options = EndpointOptions()
    options.replyBytesMax = 20 * requestBytes
    let (here, there) = MemoryTransport.pair(limits: try TransportLimits(windowBytes: 1000))
    async let connecting = Endpoint.connect(here, options: options)
    let bare = BareEnd(there)
    let endpoint = try await connecting
    let handled = Guarded(0)
    try endpoint.messages("m", codec: BinaryCodec()).handle(.concurrent) { _, _ in
      handled.update { $0 += 1 }
      return [UInt8](repeating: 1, count: 20_000)
    }
    // A call of this end, so that it reads on.
    let open = Task { try await endpoint.messages("m", codec: BinaryCodec()).send([1]) }
    await eventually { bare.received(Op.call).count == 1 }
    there.pause()
    bare.send(Head(op: Op.call, id: 1), name: "m")
    bare.send(Head(op: Op.call, id: 2), name: "m")
    await eventually { endpoint.stats().waitingBytes >= 20_000 }
    let before = handled.value
    for id in 3...102 as ClosedRange<UInt32> { bare.send(Head(op: Op.call, id: id), name: "m") }
    // The refusals wait behind the answers.
    await eventually { endpoint.stats().waitingBytes >= 20_000 + 80 * requestBytes }
    #expect(handled.value == before)
    there.resume()
    await eventually { bare.received(Op.reply).count == 102 }
    let busy = bare.received(Op.reply).filter { $0.head.a == Status.busy.rawValue }.count
    // A request counts 512 bytes, and its name twice.
    #expect(busy == 80)
    #expect(handled.value == 22)
    open.cancel()
    endpoint.terminate()
  }

  @Test("A request whose answer waits keeps no bytes of its message")
  func answered() async throws {
    let (here, there) = MemoryTransport.pair(limits: try TransportLimits(windowBytes: 1000))
    async let connecting = Endpoint.connect(here)
    let bare = BareEnd(there)
    let endpoint = try await connecting
    let frame = readFrame(
      writeFrame(Head(op: Op.call, id: 1), name: [109], body: [UInt8](repeating: 0, count: 1000)))
    let core = endpoint.core
    let served = Served(core.connection, core.router, try #require(frame), "m", isWanted: true)
    there.pause()
    try await endpoint.messages("m", codec: BinaryCodec()).post([UInt8](repeating: 1, count: 2000))
    #expect(served.message.body.count == 1000)
    served.answer(.noHandler)
    #expect(endpoint.stats().waitingBytes == requestBytes)
    #expect(served.message.bytes.isEmpty)
    _ = bare
    endpoint.terminate()
  }

  @Test("Events without a value are charged their entries at both ends")
  func events() async throws {
    var options = EndpointOptions()
    options.replyBytesMax = 100 * entryBytes
    let (endpoint, bare) = try await besideBare(options)
    let sent = Promise<Int>()
    try endpoint.events("e").serve(options: ServeOptions(capacity: 10_000, whenFull: .fail)) {
      _, sink in
      var count = 0
      while (try? await sink.send(.null)) != nil { count += 1 }
      sent.fulfil(count)
    }
    let listen = try StandardMethodCodec().encode(call: MethodCall("listen"))
    bare.send(Head(op: Op.listen, id: 1), name: "e", body: listen)
    // The body of an event of null has two bytes.
    #expect(await sent.get() == 100 * entryBytes / (entryBytes + 2) + 1)

    var window = ListenOptions()
    window.windowItems = 1000
    window.windowBytes = 100 * entryBytes
    let stream = try endpoint.events("f").listen(options: window)
    await eventually { bare.received(Op.listen).count == 1 }
    #expect(bare.received(Op.listen)[0].head.a == 100)
    stream.stop()
    await endpoint.close()
  }

  @Test("Small events are dropped until a large one has room")
  func largeAfterSmall() async throws {
    var options = EndpointOptions()
    options.replyBytesMax = 10 * entryBytes
    let (endpoint, bare) = try await besideBare(options)
    let waiting = Promise<Int>()
    let large = Value.bytes([UInt8](repeating: 1, count: 5 * entryBytes))
    try endpoint.events("e").serve(
      options: ServeOptions(capacity: 10_000, whenFull: .dropOldest)
    ) { _, sink in
      for _ in 0..<10 { try await sink.send(.null) }
      for _ in 0..<20 { try await sink.send(large) }
      waiting.fulfil(endpoint.stats().waitingBytes)
    }
    let listen = try StandardMethodCodec().encode(call: MethodCall("listen"))
    bare.send(Head(op: Op.listen, id: 1), name: "e", body: listen)
    #expect(await waiting.get() < 17 * entryBytes)
    endpoint.terminate()
  }

  /// Sends events with attachments of these sizes, and the end, to a stream that is not read. Returns
  /// when they have arrived, or have ended the connection.
  private func unread(
    _ count: Int, _ sizes: [Int], _ window: ListenOptions, replyBytesMax: Int
  ) async throws -> (Endpoint, EventStream) {
    var options = EndpointOptions()
    options.replyBytesMax = replyBytesMax
    let (endpoint, bare) = try await besideBare(options)
    let stream = try endpoint.events("e").listen(options: window)
    await eventually { bare.received(Op.listen).count == 1 }
    let id = bare.received(Op.listen)[0].head.id
    let event = frameWithAttachments(Head(op: Op.event, id: id), sizes, body: [0, 0])
    for _ in 0..<count { _ = bare.transport.send(event) }
    bare.send(Head(op: Op.end, id: id))
    await eventually { endpoint.stats().listening == 0 }
    return (endpoint, stream)
  }

  @Test("Events with empty attachments are kept up to the memory that the window explains")
  func emptyAttachments() async throws {
    var window = ListenOptions()
    window.windowItems = 100
    window.windowBytes = 100 * entryBytes
    // The window explains 300 entries. An event here counts 101 and two bytes.
    let empty = [Int](repeating: 0, count: 100)
    let (here, kept) = try await unread(3, empty, window, replyBytesMax: 1)
    #expect(try await kept.reduce(0) { count, _ in count + 1 } == 3)
    await here.close()
    let (endpoint, _) = try await unread(4, empty, window, replyBytesMax: 1)
    let reason = await endpoint.closed()
    #expect(reason.code == .protocolViolation)
    #expect(reason.message == "events with too many small attachments: e")
  }

  @Test("Events whose attachments have 128 bytes fill the window")
  func smallAttachments() async throws {
    var window = ListenOptions()
    window.windowItems = 8
    window.windowBytes = 8 * 12_802
    let sizes = [Int](repeating: entryBytes, count: 100)
    let (endpoint, stream) = try await unread(8, sizes, window, replyBytesMax: 1)
    #expect(try await stream.reduce(0) { count, _ in count + 1 } == 8)
    await endpoint.close()
  }

  @Test("A window counts the entries of empty frames")
  func windows() async throws {
    let limits = try TransportLimits(windowBytes: 100 * entryBytes)
    let (here, there) = MemoryTransport.pair(limits: limits)
    there.pause()
    var count = 1
    while here.send([]) { count += 1 }
    #expect(count == 100)
    let (reading, writing) = try System.pipe()
    defer { for fd in [reading, writing] { System.close(fd) } }
    var output = StreamOutput(fd: writing, framing: StdioFraming())
    for _ in 0..<100 { output.append(StreamLayout.frame, []) }
    #expect(output.waitingBytes == 100 * entryBytes)
    _ = output.flush()
    #expect(output.waitingBytes == 0)
    #expect(StreamEvent.frame([]).memory == entryBytes && StreamEvent.mark(1).memory == entryBytes)
  }

  @Test("The largest window has room for every frame", arguments: [Carrier.memory, .webSocket])
  func largestWindow(carrier: Carrier) async throws {
    let (here, there) = try await carrier.pair(limits: try TransportLimits(windowBytes: .max))
    let sink = Recorder()
    there.open(sink)
    here.open(Recorder())
    there.pause()
    #expect([1, 2, 3].map { here.send([$0]) } == [true, true, true])
    there.resume()
    await eventually { sink.frames.value.count == 3 }
    here.close(.closed)
  }
}
