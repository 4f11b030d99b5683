// SPDX-License-Identifier: MIT OR Apache-2.0

import Testing

@testable import ClearwayChannel

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
