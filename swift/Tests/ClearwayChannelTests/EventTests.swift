// SPDX-License-Identifier: MIT OR Apache-2.0
@testable import ClearwayChannel
import Testing

@Suite("Events", .timeLimit(.minutes(2)))
struct EventTests {
  @Test(
    "All events arrive in order, and the stream ends with its source", arguments: Carrier.allCases)
  func order(_ carrier: Carrier) async throws {
    let (here, there) = try await connected(carrier)
    try there.events("count").serve { arguments, sink in
      for number in 0..<(arguments.intValue ?? 0) { try await sink.send(.int(number)) }
    }
    var seen: [Int64] = []
    for try await event in try here.events("count").listen(5000) {
      if let number = event.intValue { seen.append(number) }
    }
    #expect(seen == Array(0..<5000))
    await eventually { there.stats().serving == 0 }
    await here.close()
  }

  @Test("An endpoint that has served and refused streams is freed after its end")
  func freed() async throws {
    final class Weak: @unchecked Sendable {
      weak var connection: Connection?
    }
    let weak = Weak()
    func serves() async throws {
      var options = EndpointOptions()
      options.earlyTime = .zero
      let (here, there) = try await connected(there: options)
      weak.connection = there.core.connection
      try there.events("one").serve { _, sink in try await sink.send(1) }
      for try await _ in try here.events("one").listen() {}
      #expect(
        await code { for try await _ in try here.events("none").listen() {} } == .noHandler)
      await here.close()
      _ = await there.closed()
    }
    try await serves()
    await eventually { weak.connection == nil }
  }

  @Test("An endpoint whose handler comes after its end is freed, although the handler captures it")
  func freedLate() async throws {
    final class Weak: @unchecked Sendable {
      weak var connection: Connection?
    }
    let weak = Weak()
    func serves() async throws {
      let (here, there) = try await connected()
      weak.connection = there.core.connection
      await here.close()
      _ = await there.closed()
      try there.messages("late").handle { message, _ in
        try await there.messages("back").send(message)
      }
    }
    try await serves()
    await eventually { weak.connection == nil }
  }

  @Test("A sequence is asked for its next value when that one may be sent")
  func pull() async throws {
    let (here, there) = try await connected()
    let asked = Guarded(0)
    try there.events("numbers").serve { _ in
      AsyncStream<Value> {
        .int(
          Int64(
            asked.update {
              $0 += 1; return $0
            }))
      }
    }
    var options = ListenOptions()
    options.windowItems = 4
    let stream = try here.events("numbers").listen(options: options)
    await eventually { asked.value == 4 }
    for _ in 0..<50 { await Task.yield() }
    #expect(asked.value == 4)
    var events = stream.makeAsyncIterator()
    for number in 1...10 { #expect(try await events.next() == .int(Int64(number))) }
    stream.stop()
    #expect(try await events.next() == nil)
    await eventually { there.stats().serving == 0 }
    #expect(asked.value <= 14)
    await here.close()
  }

  @Test("The policy decides what happens to events without room")
  func policies() async throws {
    let (here, there) = try await connected()
    for policy in WhenFull.allCases {
      let outcomes = Promise<[String]>()
      let registration = try there.events("e").serve(
        options: ServeOptions(capacity: 2, whenFull: policy)
      ) { _, sink in
        var all: [String] = []
        for number in 1...6 as ClosedRange<Int64> {
          if policy == .wait, number > 3 { break }
          do {
            all.append(try await sink.send(.int(number)) ? "sent" : "dropped")
          } catch let error as ClearwayError {
            all.append(error.code.rawValue)
          }
        }
        outcomes.fulfil(all)
      }
      var options = ListenOptions()
      options.windowItems = 1
      let dropped = Guarded(0)
      options.onDrop = { count in dropped.update { $0 += count } }
      let stream = try here.events("e").listen(options: options)
      let sent = await outcomes.get()
      var seen: [Int64] = []
      for try await event in stream { seen.append(event.intValue ?? -1) }
      switch policy {
      case .wait:
        #expect(sent == ["sent", "sent", "sent"])
        #expect(seen == [1, 2, 3])
      case .fail:
        #expect(sent == ["sent", "sent", "sent", "queue-full", "queue-full", "queue-full"])
        #expect(seen == [1, 2, 3])
      case .dropOldest:
        #expect(sent == Array(repeating: "sent", count: 6))
        #expect(seen == [1, 5, 6])
        #expect(dropped.value == 3)
      case .dropNewest:
        #expect(sent == ["sent", "sent", "sent", "dropped", "dropped", "dropped"])
        #expect(seen == [1, 2, 3])
        #expect(dropped.value == 3)
      }
      #expect(stream.dropped == dropped.value)
      registration.cancel()
    }
    await here.close()
  }

  @Test("Calls of send that wait are charged as events in the queue")
  func waitingSends() async throws {
    var options = EndpointOptions()
    options.replyBytesMax = 10 * entryBytes
    let (endpoint, bare) = try await besideBare(options)
    let refused = Guarded(0)
    try endpoint.events("e").serve(options: ServeOptions(capacity: 3)) { _, sink in
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<100 {
          group.addTask {
            do { try await sink.send(.null) } catch is ClearwayError {
              refused.update { $0 += 1 }
            } catch {}
          }
        }
      }
    }
    let listen = try StandardMethodCodec().encode(call: MethodCall("listen"))
    bare.send(Head(op: Op.listen, id: 1), name: "e", body: listen)
    // The body of an event of null has two bytes.
    let kept = 10 * entryBytes / (entryBytes + 2) + 1
    await eventually { refused.value == 100 - kept }
    endpoint.terminate()
    await eventually { endpoint.stats().waitingBytes == 0 }
  }

  @Test("A source that waits for room goes on when the reader reads")
  func waits() async throws {
    let (here, there) = try await connected()
    try there.events("e").serve(options: ServeOptions(capacity: 1)) { _, sink in
      for number in 0..<1000 as Range<Int64> { try await sink.send(.int(number)) }
    }
    var options = ListenOptions()
    options.windowItems = 2
    options.windowBytes = 1
    var next: Int64 = 0
    for try await event in try here.events("e").listen(options: options) {
      #expect(event == .int(next))
      next += 1
    }
    #expect(next == 1000)
    await here.close()
  }

  @Test("A reader that leaves its loop cancels the source")
  func leaves() async throws {
    let (here, there) = try await connected()
    let cancelled = Promise<Void>()
    try there.events("e").serve { _, sink in
      do {
        while true { try await sink.send(1) }
      } catch {
        #expect(error is CancellationError)
        cancelled.fulfil(())
        throw error
      }
    }
    for try await _ in try here.events("e").listen() { break }
    await cancelled.get()
    await eventually { there.stats().serving == 0 && here.stats().listening == 0 }
    await here.close()
  }

  @Test("A cancelled reader ends, at any moment, and so does its source")
  func cancelledReader() async throws {
    let (here, there) = try await connected()
    try there.events("e").serve { _, sink in
      while true {
        try await sink.send(1)
        await Task.yield()
      }
    }
    for moment in 0..<100 {
      let reading = Task {
        var count = 0
        for try await _ in try here.events("e").listen() { count += 1 }
        return count
      }
      for _ in 0..<moment { await Task.yield() }
      reading.cancel()
      _ = try await reading.value
    }
    await eventually { there.stats().serving == 0 && here.stats().listening == 0 }
    await here.close()
  }

  @Test("An error of the source arrives after the events before it")
  func sourceError() async throws {
    let (here, there) = try await connected()
    try there.events("e").serve { _, sink in
      try await sink.send(1)
      throw RemoteError(code: "broken", message: "no more")
    }
    var events = try here.events("e").listen().makeAsyncIterator()
    #expect(try await events.next() == 1)
    await #expect(
      throws: RemoteError(
        code: "broken", message: "no more", details: nil, channel: "e", stack: nil)
    ) { _ = try await events.next() }
    #expect(try await events.next() == nil)
    #expect(try await here.events("e").listen().first { _ in true } == 1)
    await here.close()
  }

  @Test(
    "Every listener of a channel has its own stream, and one that does not read holds up no other")
  func shared() async throws {
    let (here, there) = try await connected()
    try there.events("e").serve { arguments, sink in
      try await sink.send(arguments)
      for n in 1...50 { try await sink.send(.int(Int64(n))) }
    }
    var idle = try here.events("e").listen("idle").makeAsyncIterator()
    #expect(try await idle.next() == "idle")
    for name: Value in ["second", "third"] {
      var events = try here.events("e").listen(name).makeAsyncIterator()
      #expect(try await events.next() == name)
      for n in 1...50 { #expect(try await events.next() == .int(Int64(n))) }
      #expect(try await events.next() == nil)
    }
    for n in 1...50 { #expect(try await idle.next() == .int(Int64(n))) }
    there.terminate()
  }
}
