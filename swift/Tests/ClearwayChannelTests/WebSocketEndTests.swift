// SPDX-License-Identifier: MIT OR Apache-2.0

import Testing

@testable import ClearwayChannel

@Suite("An end of a WebSocket", .timeLimit(.minutes(2)))
struct WebSocketEndTests {
  @Test("sends nothing after its close, not even a reply that has waited for room")
  func lastIsClose() async throws {
    let framing = WebSocketFraming(role: .client, hasMarks: true)
    let there = try RawEnd(framing, limits: try TransportLimits(windowBytes: 1000))
    // More than a pipe and the window have room for.
    #expect(!there.transport.send([UInt8](repeating: 7, count: 1 << 18)))
    try await there.write([0x82, 1, 1] + text("mark 9") + [0x82, 1, 2])
    await eventually { there.sink.frames.value.count == 2 }
    there.transport.close(.closed)
    await #expect(throws: ClearwayError.self) { try await there.read { false } }
    let (header, body) = framing.pack(WebSocketLayout.close, CloseReason.closed.webSocketBody)
    #expect(there.last.suffix(header.count + body.count).prefix(2) == header[..<2])
  }

  @Test("replies to the newest mark only, when an older reply still waits for room")
  func marks() async throws {
    let window = 1 << 20
    // The largest size of a pipe, on every system.
    let pipeBytes = 1 << 16
    let there = try RawEnd(
      WebSocketFraming(role: .client, hasMarks: true),
      limits: try TransportLimits(windowBytes: window))
    #expect(!there.transport.send([UInt8](repeating: 7, count: window + 2 * pipeBytes)))
    // The second frame tells that the mark before it was handled, while the window was full.
    try await there.write([0x82, 1, 1] + text("mark 9") + [0x82, 1, 2])
    await eventually { there.sink.frames.value.count == 2 }
    // What waits now is less than the window, and more than the half that makes room for the reply.
    try await there.read(4 * pipeBytes)
    try await there.write(text("mark 18") + [0x82, 1, 3])
    await eventually { there.sink.frames.value.count == 3 }
    try await there.read { there.events.contains("taken 18") }
    there.transport.close(.closed)
    try await there.read { there.events.last == "end" }
    #expect(there.events.filter { $0.hasPrefix("taken") } == ["taken 18"])
  }

  @Test("that is a client pings each 20 s, and is lost when nothing arrives for 30 s")
  func silence() {
    let clock = FakeClock()
    func pass(_ steps: Int, isRead: Bool = true, _ keepAlive: inout KeepAlive) -> [String] {
      (0..<steps).map { _ in
        clock.advance(4_999)
        #expect(keepAlive.step(isRead: isRead) == nil)
        clock.advance(1)
        return keepAlive.step(isRead: isRead).map { "\($0)" } ?? ""
      }
    }
    var keepAlive = KeepAlive(clock: clock)
    let lost = "lost(lost: the other end has sent nothing for 30000 ms)"
    // The first step begins with the handshake, which has arrived.
    #expect(pass(7, &keepAlive) == ["", "", "", "ping", "", "", lost])
    // What has arrived, a time without reading and a pause of the process count as one step at most.
    keepAlive = KeepAlive(clock: clock)
    #expect(pass(6, &keepAlive) == ["", "", "", "ping", "", ""])
    keepAlive.heard()
    #expect(pass(6, &keepAlive) == ["", "ping", "", "", "", "ping"])
    #expect(pass(1, isRead: false, &keepAlive) == [""])
    clock.advance(1 << 40)
    #expect(keepAlive.step(isRead: true) == nil)
    #expect(keepAlive.step(isRead: true) == nil)
    #expect(pass(5, &keepAlive) == ["", "ping", "", "", lost])
  }

  @Test(
    "that is a client ends a connection to a silent server, but not while its reading is paused")
  func silentServer() async throws {
    let clock = SeenClock()
    let there = try RawEnd(
      WebSocketFraming(
        role: .client, hasMarks: false, keepAlive: KeepAlive(stepMs: 1, clock: clock)))
    var pings = 0
    func expectPings(_ count: Int) async throws {
      pings += count
      try await there.read { there.events.filter { $0 == "ping" }.count == pings }
    }
    // One byte at a time is no silence: here, of a pong.
    for byte in Array(repeating: [0x8a, 0] as [UInt8], count: 5).joined() {
      try await there.write([byte])
      for _ in 0..<4 { await clock.advance() }
    }
    try await expectPings(10)
    there.transport.pause()
    for _ in 0..<40 { await clock.advance() }
    try await expectPings(10)
    there.transport.resume()
    let time = Task { while !Task.isCancelled { await clock.pass() } }
    #expect(await there.sink.reason.get().code == .lost)
    time.cancel()
  }

  private func text(_ text: String) -> [UInt8] { [0x81, UInt8(text.utf8.count)] + text.utf8 }
}

/// A clock of milliseconds that pass when a test says so.
private final class SeenClock: ChannelClock {
  private let time = Guarded((nowMs: Int64(0), reads: 0))

  var nowMs: Int64 {
    time.update {
      $0.reads += 1
      return $0.nowMs
    }
  }

  func after(_ ms: Int64, _ act: @escaping @Sendable () -> Void) -> ChannelTimer { ChannelTimer {} }

  /// Lets a millisecond pass.
  @discardableResult
  func pass() async -> Int {
    await Task.yield()
    return time.update {
      $0.nowMs += 1
      return $0.reads
    }
  }

  /// Lets a millisecond pass, and waits until the transport has acted on it. Its thread reads the time twice
  /// in each turn.
  func advance() async {
    let reads = await pass()
    await eventually { self.time.value.reads >= reads + 3 }
  }
}

/// The other end of a transport over two pipes, byte by byte.
private final class RawEnd: @unchecked Sendable {
  let transport: StreamTransport
  let sink = Recorder()
  private(set) var events: [String] = []
  /// The last bytes that were read.
  private(set) var last: [UInt8] = []
  private let (input, output): (Int32, Int32)
  private var reader: WebSocketReader

  init(_ framing: WebSocketFraming, limits: TransportLimits = .standard) throws {
    let (theirInput, output) = try System.pipe()
    let (input, theirOutput) = try System.pipe()
    for end in [input, output] { System.prepare(end) }
    (self.input, self.output) = (input, output)
    reader = WebSocketReader(
      frameBytesMax: limits.frameBytesMax, isMasked: framing.role == .client,
      hasMarks: framing.hasMarks)
    transport = try StreamTransport(
      input: theirInput, output: theirOutput, name: "websocket", limits: limits, isTrusted: false,
      owns: true, child: nil, framing: framing)
    transport.open(sink)
  }

  deinit { for end in [input, output] { System.close(end) } }

  /// Writes bytes that the pipe has room for.
  func write(_ bytes: [UInt8]) async throws {
    guard case .bytes(bytes.count) = bytes.withUnsafeBytes({ System.write(output, $0) }) else {
      throw ClearwayError(.failed, "the pipe is full, or has ended")
    }
  }

  /// Reads `count` bytes.
  func read(_ count: Int) async throws {
    var left = count
    try await read(atMost: { left }, until: { left == 0 }) { left -= $0 }
  }

  /// Reads until `isDone`.
  func read(until isDone: () -> Bool) async throws {
    try await read(atMost: { 1 << 16 }, until: isDone) { _ in }
  }

  private func read(atMost: () -> Int, until isDone: () -> Bool, _ took: (Int) -> Void) async throws
  {
    while !isDone() {
      var piece = [UInt8](repeating: 0, count: min(atMost(), 1 << 16))
      switch piece.withUnsafeMutableBytes({ System.read(input, $0) }) {
      case .bytes(let count) where count > 0:
        took(count)
        last = Array((last + piece[..<count]).suffix(100))
        piece[..<count].withUnsafeBytes { reader.push($0, record) }
      case .wouldBlock: await Task.yield()
      default: throw ClearwayError(.failed, "the pipe has ended: \(events)")
      }
    }
  }

  private func record(_ event: StreamEvent) {
    switch event {
    case .frame: events.append("frame")
    case .end, .over: events.append("end")
    case .ping: events.append("ping")
    case .mark(let total): events.append("mark \(total)")
    case .taken(let total): events.append("taken \(total)")
    }
  }
}
