// SPDX-License-Identifier: MIT OR Apache-2.0

import Testing

@testable import ClearwayChannel

/// An end that sends bytes of its own, and keeps what arrives.
final class BareEnd: ChannelSink, @unchecked Sendable {
  let transport: any ChannelTransport
  private let frames = Guarded<[Frame]>([])
  private let reason = Promise<CloseReason>()

  init(_ transport: any ChannelTransport, hello: Hello? = .bare) {
    self.transport = transport
    transport.open(self)
    if let hello { _ = transport.send(hello.frame()) }
  }

  func frame(_ frame: [UInt8]) {
    if let read = readFrame(frame) { frames.update { $0.append(read) } }
  }
  func drained() {}
  func closed(_ reason: CloseReason) { self.reason.fulfil(reason) }
  func closed() async -> CloseReason { await reason.get() }

  func send(_ head: Head, name: String = "", body: [UInt8] = []) {
    _ = transport.send(writeFrame(head, name: Array(name.utf8), body: body))
  }

  var received: [Frame] { frames.value }
  func received(_ op: UInt8) -> [Frame] { received.filter { $0.head.op == op } }
}

extension Hello {
  static let bare = Hello(frameBytesMax: 1 << 20, nameBytesMax: 255, callsMax: 4096)
}

func besideBare(
  _ options: EndpointOptions = EndpointOptions(), _ carrier: Carrier = .memory
) async throws -> (Endpoint, BareEnd) {
  let (here, there) = try await carrier.pair()
  async let endpoint = Endpoint.connect(here, options: options)
  let bare = BareEnd(there)
  return (try await endpoint, bare)
}

@Suite("A hostile peer", .timeLimit(.minutes(2)))
struct HostileTests {
  @Test("Any other first frame ends the connection with protocol")
  func hello() async throws {
    var other = Hello.bare
    other.version = 2
    var plain = Hello.bare
    plain.wires = 2
    var small = Hello.bare
    small.frameBytesMax = 1023
    for first in [
      [], [1, 2, 3], writeFrame(Head(op: Op.call, id: 1)), other.frame(), plain.frame(),
      small.frame(), writeFrame(Head(op: Op.hello, id: Hello.magic, a: 1, b: 1)),
    ] {
      let (here, there) = MemoryTransport.pair()
      let bare = BareEnd(there, hello: nil)
      _ = there.send(first)
      #expect(await code { _ = try await Endpoint.connect(here) } == .protocolViolation)
      #expect(await bare.closed().code == .protocolViolation)
    }
  }

  @Test("Bytes that violate the protocol end the connection")
  func violations() async throws {
    let bad: [(String, [[UInt8]])] = [
      ("no frame", [[UInt8](repeating: 0xff, count: 23)]),
      (
        "a body beyond the frame", [[1, 0, 0, 0, 1, 0, 0, 0] + [UInt8](repeating: 0xff, count: 16)]
      ),
      ("an unknown kind", [writeFrame(Head(op: 99))]),
      ("a plain message", [writeFrame(Head(op: 16, id: 1), name: [109])]),
      ("a name that is not UTF-8", [writeFrame(Head(op: Op.call, id: 1), name: [0xff])]),
      (
        "a name over the limit",
        [writeFrame(Head(op: Op.post), name: [UInt8](repeating: 110, count: 256))]
      ),
      (
        "two calls of one number",
        [
          writeFrame(Head(op: Op.call, id: 7), name: [109]),
          writeFrame(Head(op: Op.call, id: 7), name: [109]),
        ]
      ),
      (
        "two streams of one number",
        [
          writeFrame(Head(op: Op.listen, id: 7, a: 1, b: 1), name: [109]),
          writeFrame(Head(op: Op.listen, id: 7, a: 1, b: 1), name: [110]),
        ]
      ),
    ]
    for (what, frames) in bad {
      let (endpoint, bare) = try await besideBare()
      for frame in frames { _ = bare.transport.send(frame) }
      #expect(await endpoint.closed().code == .protocolViolation, "\(what)")
      #expect(await bare.closed().code == .protocolViolation, "\(what)")
    }
  }

  @Test("An event without credit ends the connection")
  func credit() async throws {
    let (endpoint, bare) = try await besideBare()
    var options = ListenOptions()
    options.windowItems = 2
    let stream = try endpoint.events("e").listen(options: options)
    await eventually { bare.received(Op.listen).count == 1 }
    let id = bare.received(Op.listen)[0].head.id
    for _ in 0..<3 { bare.send(Head(op: Op.event, id: id), body: [0, 0]) }
    #expect(await endpoint.closed().code == .protocolViolation)
    stream.stop()
  }

  @Test("An event for whose credit there was no room ends the connection")
  func unsentCredit() async throws {
    let (here, there) = MemoryTransport.pair(limits: try TransportLimits(windowBytes: 1000))
    async let connecting = Endpoint.connect(here)
    let bare = BareEnd(there)
    let endpoint = try await connecting
    var options = ListenOptions()
    options.windowItems = 2
    let stream = try endpoint.events("e").listen(options: options)
    var events = stream.makeAsyncIterator()
    await eventually { bare.received(Op.listen).count == 1 }
    let id = bare.received(Op.listen)[0].head.id
    there.pause()
    try await endpoint.messages("m", codec: BinaryCodec()).post([UInt8](repeating: 1, count: 2000))
    for _ in 0..<2 {
      bare.send(Head(op: Op.event, id: id), body: [0, 0])
      _ = try await events.next()
    }
    bare.send(Head(op: Op.event, id: id), body: [0, 0])
    #expect(await endpoint.closed().code == .protocolViolation)
  }

  @Test("Closing sends the answer of the last handler, also without room")
  func closingWithoutRoom() async throws {
    let (here, there) = MemoryTransport.pair(limits: try TransportLimits(windowBytes: 1000))
    async let connecting = Endpoint.connect(here)
    let bare = BareEnd(there)
    let endpoint = try await connecting
    let gate = Promise<[UInt8]>()
    try endpoint.messages("m", codec: BinaryCodec()).handle { _, _ in await gate.get() }
    for id in 1...2 { bare.send(Head(op: Op.call, id: UInt32(id)), name: "m", body: [1]) }
    await eventually { endpoint.stats().handling == 2 }
    there.pause()
    async let closed = endpoint.close()
    gate.fulfil([UInt8](repeating: 1, count: 2000))
    await eventually { endpoint.stats().waitingBytes > 0 }
    there.resume()
    _ = await closed
    #expect(bare.received(Op.reply).map(\.head.a) == [Status.done.rawValue, Status.done.rawValue])
  }

  @Test("Frames for calls and streams that are not open have no effect")
  func strangers() async throws {
    let (endpoint, bare) = try await besideBare()
    try endpoint.messages("m").handle { message, _ in message }
    for op in [Op.reply, Op.cancel, Op.event, Op.end, Op.credit, Op.stop] {
      bare.send(Head(op: op, id: 77, a: 0xffff_ffff, b: 0xffff_ffff))
    }
    bare.send(Head(op: Op.call, id: 1), name: "m", body: [1])
    await eventually { bare.received(Op.reply).count == 1 }
    #expect(bare.received(Op.reply)[0].head.a == Status.done.rawValue)
    await endpoint.close()
  }

  @Test("A message that is not one fails its call only")
  func malformed() async throws {
    let (endpoint, bare) = try await besideBare()
    try endpoint.messages("m").handle { message, _ in message }
    bare.send(Head(op: Op.call, id: 1), name: "m", body: [12, 0xff, 0xff, 0xff, 0xff, 0x7f])
    await eventually { bare.received(Op.reply).count == 1 }
    let reply = bare.received(Op.reply)[0]
    #expect(reply.head.a == Status.error.rawValue)
    #expect(
      (readError(reply.message, channel: "m", valuesMax: 100) as? RemoteError)?.code == "truncated")

    async let answer = code { _ = try await endpoint.messages("x").send(1) }
    await eventually { bare.received(Op.call).count == 1 }
    bare.send(Head(op: Op.reply, id: bare.received(Op.call)[0].head.id, a: 0), body: [200])
    #expect(await answer == .unknownTag)
    async let failed = code { _ = try await endpoint.messages("x").send(1) }
    await eventually { bare.received(Op.call).count == 2 }
    bare.send(Head(op: Op.reply, id: bare.received(Op.call)[1].head.id, a: 1), body: [3])
    #expect(await failed == .protocolViolation)
    await endpoint.close()
  }

  @Test("More values than valuesMax are refused before they take memory")
  func values() async throws {
    var options = EndpointOptions()
    options.valuesMax = 100
    let (endpoint, bare) = try await besideBare(options)
    try endpoint.messages("m").handle { message, _ in message }
    bare.send(
      Head(op: Op.call, id: 1), name: "m", body: [12, 101] + [UInt8](repeating: 0, count: 101))
    await eventually { bare.received(Op.reply).count == 1 }
    let message = bare.received(Op.reply)[0].message
    let error = readError(message, channel: "m", valuesMax: 100) as? RemoteError
    #expect(error?.code == "too-large")
    #expect(readError(message, channel: "m", valuesMax: 3) is ClearwayError)
    await endpoint.close()
  }

  @Test("The limit of values counts for messages of your own types, too")
  func ownValues() async throws {
    var options = EndpointOptions()
    options.valuesMax = 100
    let (endpoint, bare) = try await besideBare(options)
    let handled = Guarded(0)
    try endpoint.messages("standard", codec: StandardMessageCodec().of([Int?].self)).handle {
      message, _ in
      handled.update { $0 += 1 }
      return message
    }
    try endpoint.messages("json", codec: JSONMessageCodec().of([Int].self)).handle { message, _ in
      handled.update { $0 += 1 }
      return message
    }
    func list(_ count: UInt8) -> [UInt8] { [12, count] + [UInt8](repeating: 0, count: Int(count)) }
    func text(_ count: Int) -> [UInt8] {
      Array("[\([String](repeating: "1", count: count).joined(separator: ","))]".utf8)
    }
    bare.send(Head(op: Op.call, id: 1), name: "standard", body: list(101))
    bare.send(Head(op: Op.call, id: 2), name: "json", body: text(101))
    await eventually { bare.received(Op.reply).count == 2 }
    #expect(handled.value == 0)
    bare.send(Head(op: Op.call, id: 3), name: "standard", body: list(50))
    bare.send(Head(op: Op.call, id: 4), name: "json", body: text(50))
    await eventually { bare.received(Op.reply).count == 4 }
    #expect(handled.value == 2)
    await endpoint.close()
  }

  @Test("Attachments without bytes count for the memory of a message that waits")
  func emptyAttachments() {
    let ranges = [Range<Int>](repeating: 0..<0, count: 1000)
    let message = Received(bytes: [], body: 0..<0, flags: Flag.inside, attachments: ranges)
    #expect(message.weight == 0)
    #expect(message.memory == 20_000)
  }

  @Test("A message waits for its handler for ever if the time for early messages is the longest")
  func longestEarlyTime() async throws {
    var options = EndpointOptions()
    options.earlyTime = .seconds(Int64.max)
    let (endpoint, bare) = try await besideBare(options)
    bare.send(Head(op: Op.call, id: 1), name: "late", body: [0])
    bare.send(Head(op: Op.call, id: 2), name: "m", body: [0])
    try endpoint.messages("m").handle { message, _ in message }
    await eventually { bare.received(Op.reply).count == 1 }
    try endpoint.messages("late").handle { message, _ in message }
    await eventually { bare.received(Op.reply).count == 2 }
    await endpoint.close()
  }

  @Test("Calls beyond callsMax are refused, and a cancelled one counts until its handler ends")
  func callsMax() async throws {
    var options = EndpointOptions()
    options.callsMax = 2
    let (endpoint, bare) = try await besideBare(options)
    let goOn = Promise<Void>()
    let started = Guarded(0)
    try endpoint.methods("m").handle { _, _ in
      started.update { $0 += 1 }
      await goOn.get()
      return nil
    }
    let body = try StandardMethodCodec().encode(call: MethodCall("x"))
    for id in 1...2 as ClosedRange<UInt32> {
      bare.send(Head(op: Op.call, id: id), name: "m", body: body)
    }
    await eventually { started.value == 2 }
    bare.send(Head(op: Op.cancel, id: 1, a: 5))
    bare.send(Head(op: Op.call, id: 3), name: "m", body: body)
    await eventually { bare.received(Op.reply).count == 1 }
    #expect(bare.received(Op.reply)[0].head.id == 3)
    #expect(bare.received(Op.reply)[0].head.a == Status.busy.rawValue)
    #expect(endpoint.stats().handling == 2)
    goOn.fulfil(())
    await eventually { endpoint.stats().handling == 0 }
    bare.send(Head(op: Op.call, id: 4), name: "m", body: body)
    await eventually { bare.received(Op.reply).count == 3 }
    await endpoint.close()
  }

  @Test("A peer that reads no answers is charged, and then disconnected")
  func stall() async throws {
    let clock = FakeClock()
    var options = EndpointOptions()
    options.clock = clock
    options.replyBytesMax = 200_000
    options.callsMax = 20
    let limits = try TransportLimits(windowBytes: 10_000)
    let (here, there) = MemoryTransport.pair(limits: limits)
    async let connecting = Endpoint.connect(here, options: options)
    let bare = BareEnd(there)
    let endpoint = try await connecting
    let handled = Guarded(0)
    try endpoint.messages("m", codec: BinaryCodec()).handle(.concurrent) { _, _ in
      handled.update { $0 += 1 }
      return [UInt8](repeating: 1, count: 20_000)
    }
    there.pause()
    for id in 1...1000 as ClosedRange<UInt32> { bare.send(Head(op: Op.call, id: id), name: "m") }
    await eventually { endpoint.stats().waitingBytes >= 200_000 }
    clock.advance(30_000)
    #expect(await endpoint.closed().code == .timeout)
    // A request counts until its answer was sent, and the window took the first ones.
    #expect(handled.value < 40)
  }

  @Test("A peer has the stall time for each MiB of the answer that it is reading")
  func stallOfLargeAnswer() async throws {
    let clock = FakeClock()
    var options = EndpointOptions()
    options.clock = clock
    options.replyBytesMax = 20_000
    let (here, there) = MemoryTransport.pair(limits: try TransportLimits(windowBytes: 10_000))
    async let connecting = Endpoint.connect(here, options: options)
    var hello = Hello.bare
    hello.frameBytesMax = 4 << 20
    let bare = BareEnd(there, hello: hello)
    let endpoint = try await connecting
    try endpoint.messages("m", codec: BinaryCodec()).handle(.concurrent) { _, _ in
      [UInt8](repeating: 1, count: 5 << 19)
    }
    there.pause()
    for id in 1...2 as ClosedRange<UInt32> { bare.send(Head(op: Op.call, id: id), name: "m") }
    await eventually { endpoint.stats().waitingBytes >= 20_000 }
    clock.advance(89_999)
    #expect(endpoint.stats().waitingBytes >= 20_000)
    clock.advance(1)
    let message = await endpoint.closed().message
    #expect(message.hasPrefix("the other end has read no answer for 90000 ms"))
  }

  @Test(
    "A stream of bytes that is not one of frames ends with protocol, and a huge frame with too-large"
  )
  func streams() async throws {
    for (bytes, expected) in [
      (Array("GET / HTTP/1.1\r\n\r\n".utf8), CloseReason.Code.protocolViolation),
      ([0x43, 0x57, 0x01, 9, 0, 0, 0, 0], .protocolViolation),
      ([0x43, 0x57, 0x01, 0, 0xff, 0xff, 0xff, 0xff], .tooLarge),
      ([0x43, 0x57, 0x01, 1, 0x01, 0x20, 0, 0], .tooLarge),
      ([0x43, 0x57, 0x01, 1, 1, 0, 0, 0, 0x7b], .protocolViolation),
    ] {
      let (input, otherOutput) = try System.pipe()
      let (otherInput, output) = try System.pipe()
      let transport = try StreamTransport(input: input, output: output)
      bytes.withUnsafeBytes { _ = System.write(otherOutput, $0) }
      let closed = await code { _ = try await Endpoint.connect(transport) }
      #expect(closed == .transportClosed)
      let reason = Promise<CloseReason>()
      do {
        let again = try StreamTransport(input: otherInput, output: otherOutput)
        // The hello of the other end may have left before it read the bytes.
        let endpoint = try await Endpoint.connect(again)
        reason.fulfil(await endpoint.closed())
      } catch let error as ClearwayError {
        reason.fulfil(error.reason ?? .closed)
      }
      #expect(await reason.get().code == expected)
    }
  }

  @Test("Random bytes after the hello crash nothing, and hang nothing")
  func noise() async throws {
    var random = SystemRandomNumberGenerator()
    let seeds = try json("spec/vectors/channel.json")["frames"]?.listValue ?? []
    let frames = seeds.compactMap { $0["hex"]?.stringValue.map(unhex) }
    #expect(!frames.isEmpty)
    for _ in 0..<200 {
      let (endpoint, bare) = try await besideBare()
      try endpoint.messages("math").handle { message, _ in message }
      let waiting = Task { await code { _ = try await endpoint.messages("x").send(1) } }
      for _ in 0..<20 {
        var frame = frames.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 0...3, using: &random) where !frame.isEmpty {
          frame[Int.random(in: frame.indices, using: &random)] = .random(
            in: 0...255, using: &random)
        }
        _ = bare.transport.send(frame)
      }
      bare.transport.close(.closed)
      _ = await endpoint.closed()
      _ = await waiting.value
    }
  }
}
