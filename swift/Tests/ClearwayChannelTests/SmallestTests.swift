// SPDX-License-Identifier: MIT OR Apache-2.0

import Testing

@testable import ClearwayChannel

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
