// SPDX-License-Identifier: MIT OR Apache-2.0
@testable import ClearwayChannel
import Testing

@Suite("A mistake of the application", .timeLimit(.minutes(2)))
struct MisuseTests {
  @Test("A read while another task waits is refused, and the other task goes on")
  func secondReader() async throws {
    let (endpoint, bare) = try await besideBare()
    let stream = try endpoint.events("e").listen()
    await eventually { bare.received(Op.listen).count == 1 }
    let id = bare.received(Op.listen)[0].head.id
    let (read, refused) = (Promise<Value?>(), Promise<String>())
    @Sendable func next() async {
      do {
        var events = stream.makeAsyncIterator()
        read.fulfil(try await events.next())
      } catch {
        refused.fulfil("\(error)")
      }
    }
    let both = [Task { await next() }, Task { await next() }]
    let expected = "invalid-argument: one task at a time may read a stream: channel=e"
    #expect(await refused.get() == expected)
    // The end of a task that was refused does not end the stream either.
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var events = stream.makeAsyncIterator()
      return await code { _ = try await events.next() }
    }
    #expect(await cancelled.value == .invalidArgument)
    bare.send(Head(op: Op.event, id: id), body: [0, 3, 5, 0, 0, 0])
    #expect(await read.get() == 5)
    for task in both { await task.value }
    await endpoint.close()
  }

  @Test("Several tasks of a source may wait for room, and one may give up")
  func severalWait() async throws {
    let (endpoint, bare) = try await besideBare()
    let (ready, givenUp) = (Guarded(0), Promise<Bool>())
    try endpoint.events("e").serve { _, sink in
      let leaving = Task { givenUp.fulfil(await sink.isReady()) }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask { if await sink.isReady() { ready.update { $0 += 1 } } }
        }
        leaving.cancel()
        _ = await givenUp.get()
        #expect(ready.value == 0)
        bare.send(Head(op: Op.credit, id: 1, a: 10, b: 1000))
      }
    }
    bare.send(Head(op: Op.listen, id: 1), name: "e", body: [7, 0, 0])
    await eventually { bare.received(Op.end).count == 1 }
    #expect(ready.value == 3)
    #expect(await givenUp.get() == false)
    await endpoint.close()
  }

  @Test("A transport carries one endpoint: a second one is refused, and the first goes on")
  func oneEndpoint() async throws {
    let pipes = try await Carrier.pipes.pair()
    for (one, other) in [
      MemoryTransport.pair() as (any ChannelTransport, any ChannelTransport), pipes,
    ] {
      async let connecting = Endpoint.connect(one)
      let there = try await Endpoint.connect(other)
      let here = try await connecting
      #expect(await code { _ = try await Endpoint.connect(one) } == .invalidArgument)
      let second = Recorder()
      one.open(second)
      #expect(await second.reason.get().code == .failed)
      try there.messages("m").handle { message, _ in message }
      #expect(try await here.messages("m").send(1) == 1)
      await here.close()
    }
  }

  @Test("The longest time does not pass at once")
  func longestTime() async {
    let clock = SystemClock()
    let hasPassed = Guarded(false)
    let longest = clock.after(.max) { hasPassed.update { $0 = true } }
    for _ in 0..<10 {
      let next = Promise<Void>()
      _ = clock.after(1) { next.fulfil(()) }
      await next.get()
    }
    #expect(!hasPassed.value)
    longest.stop()
  }

  @Test("A composed letter and the same letter with a combining mark name two channels")
  func names() async throws {
    let (here, there) = try await connected()
    let (composed, combined) = ("\u{e9}", "e\u{301}")
    async let early = here.messages(combined).send(nil)
    await eventually { there.stats().handling == 1 }
    try there.messages(composed).handle { _, _ in "composed" }
    try there.messages(combined).handle { _, _ in "combined" }
    #expect(try await early == "combined")
    #expect(try await here.messages(composed).send(nil) == "composed")
    await here.close()
  }

  @Test("A frame over the limit closes its transport with too-large")
  func largeFrame() async throws {
    let limits = try TransportLimits(frameBytesMax: 2000)
    for carrier in [Carrier.memory, .pipes] {
      let (here, there) = try await carrier.pair(limits: limits)
      let (sink, other) = (Recorder(), Recorder())
      here.open(sink)
      there.open(other)
      let isAccepted = here.send([UInt8](repeating: 1, count: 2001))
      #expect(!isAccepted)
      #expect(await sink.reason.get().code == .tooLarge)
      #expect(await other.reason.get().code == .tooLarge)
    }
  }

  @Test("A second transport over a child is refused, and the first goes on")
  func secondOfChild() async throws {
    // The child returns every byte, so this endpoint is its own other end.
    let cat = try ChildProcess("cat")
    let endpoint = try await Endpoint.connect(try StreamTransport(child: cat))
    #expect(await code { _ = try StreamTransport(child: cat) } == .invalidArgument)
    try endpoint.messages("self").handle { message, _ in message }
    #expect(try await endpoint.messages("self").send(1) == 1)
    endpoint.terminate()
    #expect(await cat.exit() == 0)
  }

  @Test("A handler that cancels another one when it is destroyed does not end the process")
  func cancelledByDestroyed() async throws {
    final class Owner: Sendable {
      private let owned: HandlerRegistration
      private let isGone: Promise<Void>

      init(_ owned: HandlerRegistration, _ isGone: Promise<Void>) {
        self.owned = owned
        self.isGone = isGone
      }

      deinit {
        owned.cancel()
        isGone.fulfil(())
      }
    }
    let (here, _) = try await connected()
    let isGone = Promise<Void>()
    func handle() throws {
      let owner = Owner(try here.messages("owned").handle { message, _ in message }, isGone)
      try here.messages("owner").handle { message, _ in withExtendedLifetime(owner) { message } }
    }
    try handle()
    here.terminate()
    await isGone.get()
  }

  @Test("An accept while another task waits is refused, and the other task goes on")
  func secondAccept() async throws {
    let listener = try SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let (accepted, refused) = (Promise<Bool>(), Promise<ClearwayError.Code?>())
    for _ in 0..<2 {
      Task {
        do {
          let transport = try await listener.accept()
          transport.close(.closed)
          accepted.fulfil(true)
        } catch {
          refused.fulfil((error as? ClearwayError)?.code)
        }
      }
    }
    #expect(await refused.get() == .invalidArgument)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await listener.accept()
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    _ = try await StreamTransport.connect(to: .tcp(host: "127.0.0.1", port: listener.port))
    #expect(await accepted.get())
    listener.close()
  }
}

@Suite("A value of another type than its reader asked for", .timeLimit(.minutes(2)))
struct MisfitTests {
  struct Size: Codable, Sendable {
    var width: Int32
    var names: [String]?
  }

  struct Two: Codable, Equatable { var two: String }

  /// Decodes a value, and its message. Throws if one of them does not fit, and expects that of the other one.
  private func made<T: Decodable>(_ type: T.Type, _ value: Value) throws -> [T] {
    let codec = StandardMessageCodec()
    let ofValue = Result { try ValueDecoder().decode(type, from: value) }
    let message = try codec.encode(value)
    let ofMessage = Result {
      try message.withUnsafeBytes { try decodeMessage(type, $0, StandardRules(.standard)) }
    }
    #expect(((try? ofValue.get()) == nil) == ((try? ofMessage.get()) == nil))
    return [try ofValue.get(), try ofMessage.get()]
  }

  /// Returns the message of the library's error that `body` throws.
  private func refusal(_ body: () async throws -> Void) async -> String {
    do {
      try await body()
      return "no error"
    } catch let error as ClearwayError where error.code == .protocolViolation {
      return error.message
    } catch {
      return "another error: \(error)"
    }
  }

  @Test(
    "A result that does not fit names the channel, the method, its place and its kind",
    arguments: [true, false])
  func results(standard: Bool) async throws {
    let codec: any MethodCodec = standard ? StandardMethodCodec() : JSONMethodCodec()
    let (here, there) = try await connected()
    try there.methods("images", codec: codec).handle { call, _ in call.arguments }
    let images = try here.methods("images", codec: codec)
    func call<T: Decodable>(_ type: T.Type, _ value: Value) async -> String {
      await refusal { _ = try await images.call("get", value, returning: type) }
    }
    #expect(
      await call(Int32.self, 5_000_000_000)
        == "images.get: result must be Int32: it is the integer 5000000000")
    #expect(await call(String.self, 1) == "images.get: result must be String: it is the integer 1")
    #expect(await call(Int.self, 1.5) == "images.get: result must be Int: it is the float 1.5")
    #expect(
      await call(Float.self, 1e300) == "images.get: result must be Float: it is the float 1e+300")
    #expect(
      await call(Size.self, ["width": 1, "names": ["a", false]])
        == "images.get: result.names[1] must be String: it is the boolean false")
    #expect(
      await call(Size.self, ["height": 1])
        == "images.get: result must have the key width: it is a map")
    #expect(await call(Bool.self, "x") == "images.get: result must be Bool: it is a text")
    #expect(try await images.call("get", 5_000_000_000, returning: Int64.self) == 5_000_000_000)
    await here.close()
  }

  @Test("A float is not made of an integer that it cannot hold")
  func floats() throws {
    let odd: Value = 9_007_199_254_740_993
    #expect(throws: DecodingError.self) { try ValueDecoder().decode(Double.self, from: odd) }
    let message = try StandardMessageCodec().encode(odd)
    #expect(throws: DecodingError.self) {
      try StandardMessageCodec().of(Double.self).decode(message)
    }
    #expect(try ValueDecoder().decode(Double.self, from: 3) == 3)
    // A fraction may be rounded, and an integer may not.
    #expect(try made(Float.self, .double(0.1)) == [0.1, 0.1])
    for whole in [.int(16_777_217), .double(16_777_217)] as [Value] {
      #expect(throws: DecodingError.self) { try made(Float.self, whole) }
    }
  }

  @Test("An integer is not made of a float that an integer may have been rounded to")
  func rounded() throws {
    let exact = Double(1 << 53)
    #expect(try made(Int.self, .double(exact - 1)) == [1 << 53 - 1, 1 << 53 - 1])
    #expect(throws: DecodingError.self) { try made(Int.self, .double(exact)) }
    #expect(throws: DecodingError.self) { try made(UInt64.self, .double(exact)) }
    let json = JSONMessageCodec().of(Int64.self)
    #expect(throws: DecodingError.self) { try json.decode(Array("9007199254740993".utf8)) }
  }

  @Test("A dictionary is not made of a map with a key that is no text")
  func keys() throws {
    let mixed: Value = .map([1: "one", "two": "two"])
    #expect(throws: DecodingError.self) { try made([String: String].self, mixed) }
    #expect(throws: DecodingError.self) { try made([Int: String].self, .map([1: "one"])) }
    // A type with names of its own ignores all others.
    #expect(try made(Two.self, mixed) == [Two(two: "two"), Two(two: "two")])
  }

  @Test("A type that encodes or decodes itself without end is refused by every codec")
  func endless() throws {
    struct Endless: Codable {
      init() {}
      init(from decoder: any Decoder) throws {
        self = try decoder.singleValueContainer().decode(Self.self)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self)
      }
    }
    /// Adds the type after a list that is filled later, so that the message collects values.
    struct Later: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        _ = list.nestedUnkeyedContainer()
        try list.encode(Endless())
      }
    }
    func check(_ codec: some MessageCodec<Value>) throws {
      let typed = codec.of([Endless].self)
      #expect(throws: EncodingError.self) { try typed.encode([Endless()]) }
      #expect(throws: DecodingError.self) { try typed.decode(try codec.encode([1])) }
    }
    try check(StandardMessageCodec())
    try check(JSONMessageCodec())
    #expect(throws: EncodingError.self) { try encodeMessage(Later(), StandardRules(.standard)) }
  }

  @Test("A sum of numbers of the other end stays at the largest number")
  func sums() {
    #expect(sum(Int.max - 1, Int(UInt32.max)) == .max)
    #expect(sum(1, 2) == 3)
  }

  @Test("An event that does not fit names its channel, and ends the stream at both ends")
  func events() async throws {
    let (here, there) = try await connected()
    try there.events("sizes").serve { _, sink in
      try await sink.send(["width": 1])
      try await sink.send(["width": 5_000_000_000])
      for _ in 0..<100 { try await sink.send(["width": 2]) }
    }
    let sizes = try here.events("sizes").listen().of(Size.self)
    var events = sizes.makeAsyncIterator()
    #expect(try await events.next()?.width == 1)
    #expect(
      await refusal { _ = try await events.next() }
        == "sizes: event.width must be Int32: it is the integer 5000000000")
    #expect(try await events.next() == nil)
    await eventually { there.stats().serving == 0 }
    await here.close()
  }

  @Test("A message and a reply that do not fit name their channel", arguments: [true, false])
  func messages(standard: Bool) async throws {
    func typed<T: Codable & Sendable>(_ endpoint: Endpoint, _ type: T.Type) throws
      -> (@Sendable (T) async throws -> T?, (@escaping @Sendable (T) -> T) throws -> Void)
    {
      func of<Codec: MessageCodec>(_ codec: Codec) throws
        -> (@Sendable (T) async throws -> T?, (@escaping @Sendable (T) -> T) throws -> Void)
      where Codec.Message == T {
        let channel = try endpoint.messages("m", codec: codec)
        return (
          { try await channel.send($0) },
          { handler in try channel.handle { message, _ in handler(message) } }
        )
      }
      return standard
        ? try of(StandardMessageCodec().of(type)) : try of(JSONMessageCodec().of(type))
    }
    let (here, there) = try await connected()
    try typed(there, Int64.self).1 { $0 * 1_000_000_000 }
    let send = try typed(here, Int32.self).0
    #expect(try await send(1) == 1_000_000_000)
    #expect(
      await refusal { _ = try await send(5) }
        == "m: reply must be Int32: it is the integer 5000000000")
    let texts = try typed(here, String.self).0
    do {
      _ = try await texts("x")
      Issue.record("no error")
    } catch let error as RemoteError {
      #expect(error.code == "protocol" && error.message == "m: message must be Int64: it is a text")
    }
    await here.close()
  }

  @Test("A reply whose lists travel beside it names the place that does not fit")
  func attachments() async throws {
    let (endpoint, bare) = try await besideBare()
    let sizes = try endpoint.methods("m")
    async let refused = refusal { _ = try await sizes.call("get", 0, returning: [[String]].self) }
    await eventually { bare.received(Op.call).count == 1 }
    // A list of one attachment, of two bytes.
    var frame = writeFrame(
      Head(op: Op.reply, flags: Flag.inside, id: bare.received(Op.call)[0].head.id),
      body: [0, 12, 1, 127, 8, 0])
    frame[20] = 1
    frame += [0, 0] + [2, 0, 0, 0, 0, 0, 0, 0] + [7, 8, 0, 0, 0, 0, 0, 0]
    _ = bare.transport.send(frame)
    #expect(await refused == "m.get: result[0][0] must be String: it is the integer 7")
    await endpoint.close()
  }
}
