// SPDX-License-Identifier: MIT OR Apache-2.0

import Testing

@testable import ClearwayChannel

/// A transport that counts how often it was paused.
final class PauseCounter: ChannelTransport {
  let pauses = Guarded(0)
  private let under: any ChannelTransport

  init(_ under: any ChannelTransport) { self.under = under }

  var name: String { under.name }
  var frameBytesMax: Int { under.frameBytesMax }
  var isTrusted: Bool { under.isTrusted }
  func open(_ sink: any ChannelSink) { under.open(sink) }
  func send(_ frame: [UInt8]) -> Bool { under.send(frame) }
  func pause() {
    pauses.update { $0 += 1 }
    under.pause()
  }
  func resume() { under.resume() }
  func close(_ reason: CloseReason) { under.close(reason) }
}

@Suite("An endpoint whose peer reads late", .timeLimit(.minutes(2)))
struct PressureTests {
  @Test("A full end reads until the late reply to a call that was given up has arrived")
  func lateReply() async throws {
    var options = EndpointOptions()
    options.replyBytesMax = 20_000
    let (under, there) = MemoryTransport.pair(limits: try TransportLimits(windowBytes: 1000))
    let here = PauseCounter(under)
    async let connecting = Endpoint.connect(here, options: options)
    let bare = BareEnd(there)
    let endpoint = try await connecting
    try endpoint.messages("m", codec: BinaryCodec()).handle(.concurrent) { _, _ in
      [UInt8](repeating: 1, count: 1000)
    }
    let givenUp = Task { try await endpoint.messages("m", codec: BinaryCodec()).send([1]) }
    await eventually { bare.received(Op.call).count == 1 }
    givenUp.cancel()
    await eventually { bare.received(Op.cancel).count == 1 }
    there.pause()
    for id in 1...100 as ClosedRange<UInt32> { bare.send(Head(op: Op.call, id: id), name: "m") }
    await eventually { endpoint.stats().waitingBytes >= 20_000 }
    #expect(here.pauses.value == 0)
    bare.send(Head(op: Op.reply, id: bare.received(Op.call)[0].head.id))
    await eventually { here.pauses.value == 1 }
    endpoint.terminate()
  }

  @Test("A post has no limit of time, whatever the fields say that only a call uses")
  func postTimes() async throws {
    let (endpoint, bare) = try await besideBare()
    let deadlines = Guarded<[Duration?]>([])
    try endpoint.messages("m", codec: BinaryCodec()).handle { _, context in
      deadlines.update { $0.append(context.deadline) }
      return nil
    }
    bare.send(Head(op: Op.post, a: 5, b: 7), name: "m")
    await eventually { deadlines.value.count == 1 }
    #expect(deadlines.value == [nil])
    await endpoint.close(timeout: .zero)
  }

  /// Fills the way to `there`, which has 1000 bytes, and pauses it.
  private func fill(_ endpoint: Endpoint, _ there: any ChannelTransport) async throws {
    there.pause()
    try await endpoint.messages("m", codec: BinaryCodec()).post([UInt8](repeating: 1, count: 2000))
  }

  @Test("Requests leave although the replies that wait take all the room every time")
  func turns() async throws {
    let (here, there) = MemoryTransport.pair(limits: try TransportLimits(windowBytes: 1000))
    async let connecting = Endpoint.connect(here)
    let bare = BareEnd(there)
    let endpoint = try await connecting
    try endpoint.messages("m", codec: BinaryCodec()).handle(.concurrent) { _, _ in
      [UInt8](repeating: 1, count: 2000)
    }
    try await fill(endpoint, there)
    for id in 1...20 as ClosedRange<UInt32> { bare.send(Head(op: Op.call, id: id), name: "m") }
    await eventually { endpoint.stats().waitingBytes >= 20 * 2000 }
    async let posted: Void = endpoint.messages("m", codec: BinaryCodec()).post([1])
    await eventually { endpoint.core.connection.locked { endpoint.core.posts.count == 1 } }
    there.resume()
    try await posted
    await eventually { bare.received(Op.reply).count == 20 }
    #expect(bare.received(Op.post).count == 2 && bare.received.last?.head.op == Op.reply)
    endpoint.terminate()
  }

  @Test("A close lets the posts that wait for room leave")
  func closeWaitsForPosts() async throws {
    let (here, there) = MemoryTransport.pair(limits: try TransportLimits(windowBytes: 1000))
    async let connecting = Endpoint.connect(here)
    let bare = BareEnd(there)
    let endpoint = try await connecting
    try await fill(endpoint, there)
    let channel = try endpoint.messages("m", codec: BinaryCodec())
    let posts = (0..<10).map { _ in Task { try await channel.post([1]) } }
    await eventually { endpoint.core.connection.locked { endpoint.core.posts.count == 10 } }
    async let closed = endpoint.close(timeout: .seconds(60))
    await eventually { endpoint.core.connection.locked { endpoint.core.connection.isClosing } }
    there.resume()
    #expect(await closed == .closed)
    for post in posts { try await post.value }
    await eventually { bare.received(Op.post).count == 11 }
  }

  @Test("A closing end refuses the calls and streams that arrive, and waits for the call that runs")
  func closeRefuses() async throws {
    let (endpoint, bare) = try await besideBare()
    let handled = Guarded(0)
    let end = Promise<Void>()
    try endpoint.messages("m", codec: BinaryCodec()).handle { _, _ in
      handled.update { $0 += 1 }
      await end.get()
      return nil
    }
    bare.send(Head(op: Op.call, id: 1), name: "m")
    await eventually { handled.value == 1 }
    async let closed = endpoint.close(timeout: .seconds(60))
    await eventually { endpoint.core.connection.locked { endpoint.core.connection.isClosing } }
    bare.send(Head(op: Op.call, id: 2), name: "m")
    bare.send(Head(op: Op.listen, id: 3), name: "m")
    await eventually { bare.received(Op.reply).count + bare.received(Op.end).count == 2 }
    let refused = bare.received(Op.reply) + bare.received(Op.end)
    #expect(refused.map(\.head.a) == [Status.noHandler.rawValue, Status.noHandler.rawValue])
    end.fulfil(())
    #expect(await closed == .closed)
    #expect(handled.value == 1)
  }

  @Test("A closing end serves the calls that handlers of its own calls make")
  func closeServesCallsBack() async throws {
    let (here, there) = try await connected()
    try here.messages("back").handle { message, _ in message }
    let closing = Promise<Void>()
    try there.messages("m").handle { _, _ in
      await closing.get()
      return try await there.messages("back").send(7)
    }
    async let answer = here.messages("m").send(nil)
    await eventually { here.stats().calls == 1 }
    async let closed = here.close(timeout: .seconds(60))
    await eventually { here.core.connection.locked { here.core.connection.isClosing } }
    closing.fulfil(())
    #expect(try await answer == 7)
    #expect(await closed == .closed)
  }

  @Test("The first of a channel's posts that finds no place is reported")
  func droppedPosts() async throws {
    let errors = Guarded<[String]>([])
    var options = EndpointOptions()
    options.callsMax = 1
    options.onError = { error, channel in errors.update { $0.append("\(channel): \(error)") } }
    let (endpoint, bare) = try await besideBare(options)
    let end = Promise<Void>()
    try endpoint.messages("m", codec: BinaryCodec()).handle { _, _ in
      await end.get()
      return nil
    }
    for _ in 0..<20 { bare.send(Head(op: Op.post), name: "m") }
    bare.send(Head(op: Op.call, id: 1), name: "m")
    await eventually { bare.received(Op.reply).count == 1 && !errors.value.isEmpty }
    #expect(errors.value.count == 1 && errors.value[0].contains("a post to m was dropped"))
    end.fulfil(())
    endpoint.terminate()
  }

  @Test("Credit that finds no room waits, and leaves in one frame")
  func creditWaits() async throws {
    let (here, there) = MemoryTransport.pair(limits: try TransportLimits(windowBytes: 1000))
    async let connecting = Endpoint.connect(here)
    let bare = BareEnd(there)
    let endpoint = try await connecting
    var options = ListenOptions()
    options.windowItems = 4
    let stream = try endpoint.events("e").listen(options: options)
    var events = stream.makeAsyncIterator()
    await eventually { bare.received(Op.listen).count == 1 }
    let id = bare.received(Op.listen)[0].head.id
    there.pause()
    try await endpoint.messages("m", codec: BinaryCodec()).post([UInt8](repeating: 1, count: 2000))
    for _ in 0..<4 {
      bare.send(Head(op: Op.event, id: id), body: [0, 0])
      _ = try await events.next()
    }
    there.resume()
    await eventually { bare.received(Op.credit).count > 0 }
    #expect(bare.received(Op.credit).map(\.head.a) == [4])
    endpoint.terminate()
  }

  @Test("Credit that adds up beyond 32 bits is clamped")
  func creditClamped() async throws {
    let (endpoint, _) = try await besideBare()
    let subscription = endpoint.core.subscriptions.listen("e", [], ListenOptions())
    let sent = endpoint.core.connection.locked {
      subscription.grant((3, .max))
      subscription.grant((.max, 1))
      return subscription.takeUnsent()
    }
    #expect(sent?.items == UInt32.max && sent?.bytes == UInt32.max)
    endpoint.terminate()
  }
}
