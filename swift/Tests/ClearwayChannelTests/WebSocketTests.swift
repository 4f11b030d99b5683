// SPDX-License-Identifier: MIT OR Apache-2.0

import Foundation
import Testing

@testable import ClearwayChannel

@Suite("A WebSocket", .timeLimit(.minutes(2)))
struct WebSocketTests {
  private func events(
    _ bytes: [UInt8], inPieces piece: Int = .max, masked: Bool = false, marks: Bool = true,
    frameBytesMax: Int = 100_000
  ) -> [String] {
    var reader = WebSocketReader(frameBytesMax: frameBytesMax, isMasked: masked, hasMarks: marks)
    var found: [String] = []
    for from in stride(from: 0, to: bytes.count, by: min(piece, max(1, bytes.count))) {
      let end = piece < bytes.count - from ? from + piece : bytes.count
      Array(bytes[from..<end]).withUnsafeBytes { part in
        reader.push(part) { event in
          switch event {
          case .frame(let frame): found.append("frame \(frame.count) \(frame.first ?? 0)")
          case .end(let reason): found.append("end \(reason.code.rawValue)")
          case .over: found.append("over")
          case .ping(let body): found.append("ping \(body)")
          case .mark(let total): found.append("mark \(total)")
          case .taken(let total): found.append("taken \(total)")
          }
        }
      }
    }
    return found
  }

  private let text = { (text: String) -> [UInt8] in
    [0x81, UInt8(text.utf8.count)] + Array(text.utf8)
  }

  @Test(
    "reads frames, fragments, pings and marks in pieces of any size", arguments: [1, 2, 7, 1000])
  func reading(piece: Int) {
    let server = WebSocketFraming(role: .server, hasMarks: true)
    let large = [UInt8](repeating: 5, count: 70_000)
    var bytes: [UInt8] = []
    for body in [[9], [], [UInt8](repeating: 3, count: 126), large] as [[UInt8]] {
      let (header, body) = server.pack(WebSocketLayout.binary, body)
      bytes += header + body
    }
    let weights = 1 + 0 + 126 + 70_000 + 4 * 8
    bytes += text("mark \(weights)") + [0x89, 2, 1, 2]
    // A message in three fragments, with a ping and a pong between them.
    bytes += [0x02, 1, 8, 0x89, 0, 0x00, 2, 8, 8, 0x8a, 1, 7, 0x80, 0] + text("taken 12")
    bytes += [0x88, 0]
    #expect(
      events(bytes, inPieces: piece) == [
        "frame 1 9", "frame 0 0", "frame 126 3", "frame 70000 5", "mark \(weights)", "ping [1, 2]",
        "ping []", "frame 3 8", "taken 12", "end closed",
      ])
  }

  @Test("reads what a client has masked, and masks what a client sends")
  func masks() {
    let client = WebSocketFraming(role: .client, hasMarks: true)
    for size in [0, 1, 7, 8, 9, 125, 126, 65_535, 65_536] {
      let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
      let (header, crossed) = client.pack(WebSocketLayout.binary, body)
      #expect(events(header + crossed, masked: true) == ["frame \(size) \(body.first ?? 0)"])
      #expect(events(header + crossed, masked: false) == ["end protocol"])
      #expect(size < 8 || crossed != body)
    }
    let server = WebSocketFraming(role: .server, hasMarks: true)
    let (header, body) = server.pack(WebSocketLayout.binary, [1])
    #expect(events(header + body, masked: true) == ["end protocol"])
    // The example of RFC 6455, 5.7.
    #expect(
      applied(0x3d21_fa37, to: Array("Hello".utf8)) == [0x7f, 0x9f, 0x4d, 0x51, 0x58])
  }

  @Test("refuses bytes that violate the protocol")
  func violations() {
    let wrong: [[UInt8]] = [
      [0xc2, 0], [0x83, 0], [0x8b, 0], [0x80, 0], [0x09, 0], [0x89, 126, 0, 126], [0x88, 1, 3],
      [0x88, 4, 3, 0xe8, 0xff, 0xff], [0x02, 0, 0x82, 0], [0x02, 0, 0x81, 0], text("mark 1"),
      text("taken"), text("taken -1"), text("taken 12345678901234567"), text("hello"),
      [0x81, 126, 1, 0], [0x01, 32] + [UInt8](repeating: 0x61, count: 32) + [0x80, 1],
    ]
    for bytes in wrong { #expect(events(bytes) == ["end protocol"], "\(bytes)") }
    #expect(events([0x82, 1, 7] + text("mark 9") + text("mark 9")).last == "end protocol")
    #expect(events(text("taken 1"), marks: false) == ["end protocol"])
    let huge: [UInt8] = [0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
    #expect(events(huge) == ["end too-large"])
    #expect(events([0x82, 127] + [UInt8](repeating: 0xff, count: 8)) == ["end too-large"])
    #expect(events([0x02, 2, 1, 1, 0x80, 2, 1, 1], frameBytesMax: 3) == ["end too-large"])
    #expect(events([0x88, 2, 0x03, 0xe8, 0x82, 1, 1]) == ["end closed"])
  }

  @Test("converts reasons to the statuses of the specification and back")
  func reasons() throws {
    for code in CloseReason.Code.allCases {
      let reason = CloseReason(code, "why: é")
      let read = try #require(CloseReason(webSocketBody: reason.webSocketBody))
      #expect(read.code == code && read.message == "why: é")
    }
    let long = CloseReason(.failed, String(repeating: "é", count: 200)).webSocketBody
    #expect(long.count == 124 && CloseReason(webSocketBody: long)?.message.count == 61)
    func read(_ status: Int) -> CloseReason.Code? {
      CloseReason(webSocketBody: [UInt8(status >> 8), UInt8(status & 0xff)])?.code
    }
    for status in [1000, 1001, 1012, 2999, 4100] { #expect(read(status) == .closed) }
    for status in [1002, 1003, 1007, 4002] { #expect(read(status) == .protocolViolation) }
    for status in [1008, 1013, 4004] { #expect(read(status) == .refused) }
    for status in [1010, 1011, 1014, 1015, 4006] { #expect(read(status) == .failed) }
    #expect(read(1009) == .tooLarge && read(1006) == .lost && read(4005) == .timeout)
    #expect(CloseReason(webSocketBody: [3]) == nil)
  }

  @Test("sends a mark for each half of its window, and is full until they are taken")
  func window() {
    var window = MarkedWindow(windowBytes: 100)
    let marks = [40, 40, 30].map { window.sent($0) }
    #expect(marks == [nil, 80, nil])
    #expect(window.isFull)
    let taken = [110, 0, 80, 80].map { window.taken($0) }
    #expect(taken == [false, false, true, false])
    #expect(!window.isFull)
  }

  @Test("accepts a server's answer only if it proves that it speaks the protocol")
  func answers() throws {
    // The example of RFC 6455, 1.3.
    let key = "dGhlIHNhbXBsZSBub25jZQ=="
    #expect(WebSocketHandshake.accepted(key) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(sha1(Array("abc".utf8)).prefix(4) == [0xa9, 0x99, 0x3e, 0x36])
    #expect(sha1([UInt8](repeating: 0x61, count: 1000)).prefix(4) == [0x29, 0x1e, 0x9a, 0x6c])
    #expect(["", "f", "fo", "foo"].map { base64(Array($0.utf8)) } == ["", "Zg==", "Zm8=", "Zm9v"])
    let good = [
      "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "connection: keep-alive, Upgrade",
      "Sec-WebSocket-Accept:  s3pPLMBiTxaQ9kYGzzhZRbK+xOo= ",
      "Sec-WebSocket-Protocol: clearway.channel.1",
    ]
    func hasMarks(_ lines: [String]) throws -> Bool {
      try WebSocketHandshake.hasMarks(lines.joined(separator: "\r\n"), key: key)
    }
    func refusal(_ lines: [String]) -> CloseReason.Code? {
      do {
        _ = try hasMarks(lines)
        return nil
      } catch {
        return (error as? ClearwayError)?.reason?.code
      }
    }
    #expect(try hasMarks(good))
    #expect(try !hasMarks(Array(good.dropLast())))
    for missing in 1...3 {
      var lines = good
      lines.remove(at: missing)
      #expect(refusal(lines) == .protocolViolation)
    }
    #expect(refusal(good + ["Sec-WebSocket-Extensions: permessage-deflate"]) == .protocolViolation)
    #expect(refusal(good.dropLast() + ["Sec-WebSocket-Protocol: other"]) == .protocolViolation)
    #expect(refusal(["HTTP/1.1 401 Unauthorized"]) == .refused)
    #expect(refusal(["SSH-2.0-x"]) == .protocolViolation)
    #expect(refusal([]) == .protocolViolation)
  }

  @Test("has addresses that cannot change the request")
  func addresses() throws {
    func parts(_ url: String) -> [String]? {
      (try? WebSocketAddress(url)).map { [$0.host, "\($0.port)", $0.path, $0.authority] }
    }
    #expect(parts("ws://a.b") == ["a.b", "80", "/", "a.b"])
    #expect(
      parts("ws://127.0.0.1:4174/x/y?z=:1") == ["127.0.0.1", "4174", "/x/y?z=:1", "127.0.0.1:4174"])
    #expect(parts("ws://h?q") == ["h", "80", "/?q", "h"])
    #expect(parts("ws://[::1]:9/") == ["::1", "9", "/", "[::1]:9"])
    #expect(parts("ws://[::1]") == ["::1", "80", "/", "[::1]"])
    for wrong in [
      "", "ws://", "wss://a", "http://a", "ws://:80", "ws://a:", "ws://a:0", "ws://a:65536",
      "ws://a:x", "ws://a b", "ws://a/\r\nX: y", "ws://a/é", "ws://a#x", "ws://user@a", "ws://[a",
    ] { #expect(parts(wrong) == nil, "\(wrong)") }
    #expect(try webSocketOffers(nil) == "clearway.channel.1")
    #expect(try webSocketOffers("a~B.9") == "clearway.channel.1, clearway.token.a~B.9")
    for wrong in ["", "a b", "a,b", "é", String(repeating: "a", count: 2049)] {
      #expect(throws: ClearwayError.self) { try webSocketOffers(wrong) }
    }
  }

  @Test("is closed when it opens after its limit")
  func slowSearch() async throws {
    let goesOn = DispatchSemaphore(value: 0)
    let closed = Promise<Int>()
    let late = WebSocketHandshake.late
    let refused = await code {
      _ = try await onThread(limitMs: 1, late: late, closing: { closed.fulfil($0) }) {
        () throws(ClearwayError) in
        goesOn.wait()
        return 5
      }
    }
    #expect(refused == .transportClosed && late.reason?.code == .timeout)
    goesOn.signal()
    #expect(await closed.get() == 5)
  }

  @Test("answers pings, also those of an end that reads nothing, without keeping them all")
  func pings() async throws {
    let (input, theirOutput) = try System.pipe()
    let (theirInput, output) = try System.pipe()
    let framing = WebSocketFraming(role: .client, hasMarks: true)
    let transport = try StreamTransport(
      input: input, output: output, name: "websocket",
      limits: try TransportLimits(windowBytes: 1000), isTrusted: false, owns: true, child: nil,
      framing: framing)
    let sink = EndSink()
    transport.open(sink)
    System.prepare(theirOutput)
    // More pings than the pipe and the window have room for, and then a close.
    var bytes: [UInt8] = []
    for _ in 0..<10_000 { bytes += [0x89, 100] + [UInt8](repeating: 1, count: 100) }
    bytes += [0x88, 0]
    var done = 0
    while done < bytes.count {
      let outcome = bytes.withUnsafeBytes { memory in
        System.write(theirOutput, UnsafeRawBufferPointer(rebasing: memory[done...]))
      }
      switch outcome {
      case .bytes(let count): done += count
      case .wouldBlock: await Task.yield()
      case .failed(let why):
        Issue.record("\(why)")
        return
      }
    }
    // The answers that left fill the pipe. The close follows when they are read.
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    System.prepare(theirInput)
    var received = 0
    reading: while true {
      switch piece.withUnsafeMutableBytes({ System.read(theirInput, $0) }) {
      case .bytes(0): break reading
      case .bytes(let count): received += count
      case .wouldBlock: await Task.yield()
      case .failed: break reading
      }
    }
    #expect(received < bytes.count / 2)
    #expect(await sink.reason.get().code == .closed)
    System.close(theirInput)
    System.close(theirOutput)
  }
}

/// Takes only the end.
private final class EndSink: ChannelSink {
  let reason = Promise<CloseReason>()
  func frame(_ frame: [UInt8]) {}
  func drained() {}
  func closed(_ reason: CloseReason) { self.reason.fulfil(reason) }
}
