// SPDX-License-Identifier: MIT OR Apache-2.0
@testable import ClearwayChannel
import Testing

@Suite("An endpoint", .timeLimit(.minutes(2)))
struct EndpointTests {
  @Test("A message gets its handler's reply over every transport", arguments: Carrier.allCases)
  func replies(_ carrier: Carrier) async throws {
    let (here, there) = try await connected(carrier)
    try there.messages("echo").handle { message, _ in ["got", message] }
    #expect(try await here.messages("echo").send(["x": 1]) == ["got", ["x": 1]])
    #expect(await here.close().code == .closed)
    #expect(await there.closed().code == .closed)
  }

  @Test("Large messages and many small ones arrive whole and in order", arguments: Carrier.allCases)
  func order(_ carrier: Carrier) async throws {
    let (here, there) = try await connected(carrier)
    let seen = Guarded<[Int64]>([])
    let wholes = Guarded(0)
    let large = [UInt8]((0..<1024).map { UInt8(truncatingIfNeeded: $0 * 7) })
    let whole = (0..<11).reduce(large) { bytes, _ in bytes + bytes }
    try there.messages("order").handle { message, _ in
      if let number = message.intValue { seen.update { $0.append(number) } }
      if message == .bytes(whole) { wholes.update { $0 += 1 } }
      return nil
    }
    let channel = try here.messages("order")
    for number in 0..<2000 {
      try await channel.post(.int(Int64(number)))
      if number % 500 == 0 { try await channel.post(.bytes(whole)) }
    }
    #expect(try await channel.send(nil) == nil)
    #expect(seen.value == (0..<2000).map { Int64($0) })
    #expect(wholes.value == 4)
    here.terminate()
    #expect(await there.closed().code == .closed)
  }

  @Test("Both ends call each other at the same time", arguments: Carrier.allCases)
  func bothWays(_ carrier: Carrier) async throws {
    let (here, there) = try await connected(carrier)
    for end in [here, there] {
      try end.methods("math").handle { call, _ in
        guard call.method == "double", let number = call.arguments.intValue else {
          throw ClearwayError(.notImplemented, call.method)
        }
        return .int(number * 2)
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        for end in [here, there] {
          group.addTask {
            let result: Int = try await end.methods("math").call("double", number)
            #expect(result == number * 2)
          }
        }
      }
      try await group.waitForAll()
    }
    let notImplemented = await code { _ = try await here.methods("math").call("halve") }
    #expect(notImplemented == .notImplemented)
    #expect(
      here.stats()
        == Endpoint.Stats(calls: 0, handling: 0, waitingBytes: 0, listening: 0, serving: 0))
    await here.close()
  }

  @Test("An error of a handler keeps its code, message and details")
  func errors() async throws {
    let (here, there) = try await connected()
    try there.methods("m").handle { call, _ in
      if call.method == "own" {
        throw RemoteError(code: "out-of-tea", message: "no tea", details: ["left": 0])
      }
      throw ClearwayError(.cancelled, "not today")
    }
    let channel = try here.methods("m")
    await #expect(
      throws: RemoteError(
        code: "out-of-tea", message: "no tea", details: ["left": 0], channel: "m", stack: nil)
    ) { _ = try await channel.call("own") }
    await #expect(
      throws: RemoteError(
        code: "cancelled", message: "not today", details: nil, channel: "m", stack: nil)
    ) { _ = try await channel.call("other") }
    await here.close()
  }

  @Test("A handler that forwards a call to an end without the method has its own method")
  func forwarded() async throws {
    let (near, far) = try await connected()
    try far.methods("m").handle { call, _ in throw ClearwayError(.notImplemented, call.method) }
    let (here, there) = try await connected()
    try there.methods("m").handle { call, _ in try await near.methods("m").call(call.method) }
    await #expect(
      throws: RemoteError(
        code: "not-implemented", message: "m: the other end has no such method", details: nil,
        channel: "m", stack: nil)
    ) { _ = try await here.methods("m").call("x") }
    #expect(ClearwayError(replied: .dropped, "x") == ClearwayError(.dropped, "x"))
    await here.close()
    await near.close()
  }

  @Test("A redactor replaces the error that crosses, and a post's error is reported")
  func redaction() async throws {
    var options = EndpointOptions()
    let reported = Promise<String>()
    options.redactError = { _, channel in RemoteError(code: "hidden", message: channel) }
    options.onError = { error, channel in reported.fulfil("\(channel): \(error)") }
    let (here, there) = try await connected(there: options)
    try there.messages("m").handle { _, _ in throw RemoteError(code: "secret", message: "42") }
    let channel = try here.messages("m")
    await #expect(
      throws: RemoteError(code: "hidden", message: "m", details: nil, channel: "m", stack: nil)
    ) { _ = try await channel.send(1) }
    try await channel.post(1)
    #expect(await reported.get() == "m: secret: 42")
    await here.close()
  }

  @Test("A message waits for its handler, and gets no-handler after the time for early messages")
  func early() async throws {
    let clock = FakeClock()
    var options = EndpointOptions()
    options.clock = clock
    options.early = 2
    let (here, there) = try await connected(there: options)
    let channel = try here.messages("late")
    async let first = channel.send("first")
    await eventually { there.stats().handling == 1 }
    try there.messages("late").handle { message, _ in message }
    #expect(try await first == "first")

    let other = try here.messages("never")
    async let expired = code { _ = try await other.send(1) }
    await eventually { there.stats().handling == 1 }
    clock.advance(5_000)
    #expect(await expired == .noHandler)

    async let dropped = code { _ = try await other.send(1) }
    await eventually { there.stats().handling == 1 }
    async let kept = code { _ = try await other.send(2) }
    await eventually { there.stats().handling == 2 }
    async let newest = code { _ = try await other.send(3) }
    #expect(await dropped == .dropped)
    clock.advance(5_000)
    #expect(await kept == .noHandler)
    #expect(await newest == .noHandler)
    await here.close()
  }

  @Test("A handler of messages runs them in order, and one of methods at the same time")
  func handlerOrder() async throws {
    let (here, there) = try await connected()
    let bothRun = Promise<Void>()
    let running = Guarded(0)
    try there.methods("m").handle { _, _ in
      if running.update({
        $0 += 1; return $0
      }) == 2 {
        bothRun.fulfil(())
      }
      await bothRun.get()
      return nil
    }
    async let one = here.methods("m").call("a")
    async let two = here.methods("m").call("b")
    _ = try await (one, two)

    let active = Guarded(0)
    try there.messages("o").handle { message, _ in
      #expect(
        active.update {
          $0 += 1; return $0
        } == 1)
      await Task.yield()
      active.update { $0 -= 1 }
      return message
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 as Range<Int64> {
        group.addTask {
          let answer = try await here.messages("o").send(.int(number))
          #expect(answer == .int(number))
        }
      }
      try await group.waitForAll()
    }
    await here.close()
  }

  @Test("A channel has one handler at a time")
  func oneHandler() async throws {
    let (here, there) = try await connected()
    let first = try there.messages("m").handle { _, _ in 1 }
    let refused = await code { try there.messages("m").handle { _, _ in 2 } }
    #expect(refused == .invalidArgument)
    first.cancel()
    try there.messages("m").handle { _, _ in 3 }
    #expect(try await here.messages("m").send(nil) == 3)
    await here.close()
  }

  @Test("Typed messages cross by their Codable form, and other codecs carry text and bytes")
  func codecs() async throws {
    struct Point: Codable, Sendable, Equatable {
      var x: Double
      var tags: [String]
      var pixels: [UInt8]
    }
    let (here, there) = try await connected()
    let codec = StandardMessageCodec.standard.of(Point.self)
    try there.messages("points", codec: codec).handle { point, _ in
      Point(x: point.x + 1, tags: point.tags + ["seen"], pixels: point.pixels)
    }
    let answer = try await here.messages("points", codec: codec)
      .send(Point(x: 1, tags: ["a"], pixels: [1, 2]))
    #expect(answer == Point(x: 2, tags: ["a", "seen"], pixels: [1, 2]))
    try there.messages("text", codec: StringCodec()).handle { text, _ in text.uppercased() }
    #expect(try await here.messages("text", codec: StringCodec()).send("grüß") == "GRÜSS")
    try there.messages("raw", codec: BinaryCodec()).handle { bytes, _ in bytes.reversed() }
    #expect(try await here.messages("raw", codec: BinaryCodec()).send([1, 2, 3]) == [3, 2, 1])
    try there.messages("json", codec: JSONMessageCodec()).handle { value, _ in [value] }
    #expect(
      try await here.messages("json", codec: JSONMessageCodec()).send(["a": 1.5]) == [["a": 1.5]])
    await here.close()
  }

  @Test("An option out of its range is refused with its name and value")
  func options() async throws {
    var options = EndpointOptions()
    options.callsMax = 0
    let (one, _) = MemoryTransport.pair()
    await #expect(
      throws: ClearwayError(
        .invalidArgument, "callsMax must be at least 1 and at most 1000000: callsMax=0")
    ) { _ = try await Endpoint.connect(one, options: options) }
    let (here, _) = try await connected()
    var listen = ListenOptions()
    listen.windowItems = 0
    let refused = await code { _ = try here.events("e").listen(options: listen) }
    #expect(refused == .invalidArgument)
    let long = await code { _ = try here.messages(String(repeating: "n", count: 256)) }
    #expect(long == .invalidArgument)
    here.terminate()
  }

  @Test("A close waits for the calls of both directions, and refuses new ones")
  func closing() async throws {
    let (here, there) = try await connected()
    let started = Promise<Void>()
    let goOn = Promise<Void>()
    try there.messages("slow").handle { _, _ in
      started.fulfil(())
      await goOn.get()
      return "done"
    }
    let channel = try here.messages("slow")
    async let answer = channel.send(nil)
    await started.get()
    async let reason = here.close()
    await eventually { await code { try await channel.post(nil) } == .transportClosed }
    goOn.fulfil(())
    #expect(try await answer == "done")
    #expect(await reason.code == .closed)
    #expect(await code { _ = try await channel.send(nil) } == .transportClosed)
  }
}

@Suite("Cancellation", .timeLimit(.minutes(2)))
struct CancellationTests {
  @Test("A cancelled call cancels its handler at the other end", arguments: Carrier.allCases)
  func cancelsHandler(_ carrier: Carrier) async throws {
    let (here, there) = try await connected(carrier)
    let started = Promise<Void>()
    let cancelled = Promise<Void>()
    try there.messages("wait").handle { _, _ in
      started.fulfil(())
      await withTaskCancellationHandler {
        await cancelled.get()
      } onCancel: {
        cancelled.fulfil(())
      }
      return nil
    }
    let call = Task { try await here.messages("wait").send(nil) }
    await started.get()
    call.cancel()
    await #expect(throws: CancellationError.self) { _ = try await call.value }
    await cancelled.get()
    await eventually { there.stats().handling == 0 }
    #expect(here.stats().calls == 0)
    await here.close()
  }

  @Test("A call that is cancelled at any moment ends, and leaves nothing behind")
  func anyMoment() async throws {
    let (here, there) = try await connected()
    try there.methods("m").handle { call, _ in
      for _ in 0..<(call.arguments.intValue ?? 0) { await Task.yield() }
      return call.arguments
    }
    for moment in 0..<300 {
      let call = Task { try await here.methods("m").call("x", .int(Int64(moment % 7))) }
      for _ in 0..<(moment % 23) { await Task.yield() }
      call.cancel()
      do {
        #expect(try await call.value == .int(Int64(moment % 7)))
      } catch {
        #expect(error is CancellationError)
      }
    }
    await eventually { there.stats().handling == 0 }
    #expect(here.stats().calls == 0)
    #expect(try await here.methods("m").call("x", 3) == 3)
    await here.close()
  }

  @Test("A call of a cancelled task is not sent")
  func cancelledBefore() async throws {
    let (here, there) = try await connected()
    let arrived = Guarded(false)
    try there.messages("m").handle { _, _ in
      arrived.update { $0 = true }
      return nil
    }
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await here.messages("m").send(nil)
    }
    await #expect(throws: CancellationError.self) { try await call.value }
    await here.close()
    #expect(!arrived.value)
  }

  @Test("A deadline ends the call here, and a timeout its handler there")
  func limits() async throws {
    let (hereClock, thereClock) = (FakeClock(), FakeClock())
    var (hereOptions, thereOptions) = (EndpointOptions(), EndpointOptions())
    hereOptions.clock = hereClock
    thereOptions.clock = thereClock
    let (here, there) = try await connected(here: hereOptions, there: thereOptions)
    let cancelled = Guarded(0)
    let started = Guarded(0)
    try there.methods("m").handle { _, context in
      started.update { $0 += 1 }
      let done = Promise<Void>()
      await withTaskCancellationHandler {
        await done.get()
      } onCancel: {
        done.fulfil(())
      }
      cancelled.update { $0 += 1 }
      return .int(context.deadline?.milliseconds ?? -1)
    }
    let channel = try here.methods("m")
    async let late = code {
      _ = try await channel.call("x", options: CallOptions(deadline: .seconds(2)))
    }
    await eventually { started.value == 1 }
    hereClock.advance(2_000)
    #expect(await late == .deadline)
    await eventually { cancelled.value == 1 }
    async let slow = code {
      _ = try await channel.call("x", options: CallOptions(timeout: .seconds(1)))
    }
    await eventually { started.value == 2 }
    thereClock.advance(1_000)
    #expect(await slow == .timeout)
    await eventually { cancelled.value == 2 }
    await here.close()
  }

  @Test("A connect without a hello ends by its task or by the time for hellos")
  func connects() async throws {
    let (one, other) = MemoryTransport.pair()
    let connect = Task { try await Endpoint.connect(one) }
    await Task.yield()
    connect.cancel()
    await #expect(throws: CancellationError.self) { _ = try await connect.value }

    let clock = FakeClock()
    var options = EndpointOptions()
    options.clock = clock
    let (two, silent) = MemoryTransport.pair()
    async let late = code { [options] in _ = try await Endpoint.connect(two, options: options) }
    await eventually { clock.count == 1 }
    clock.advance(30_000)
    #expect(await late == .deadline)
    withExtendedLifetime((other, silent)) {}
  }
}
