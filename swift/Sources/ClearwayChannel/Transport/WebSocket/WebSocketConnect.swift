// SPDX-License-Identifier: MIT OR Apache-2.0
#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#elseif canImport(Darwin)
  @preconcurrency import Darwin
#endif

extension StreamTransport {
  /// Opens a WebSocket to a server of channels (`spec/websocket.md`).
  ///
  /// - Parameters:
  ///   - url: The server's address: `ws://HOST[:PORT][/PATH]`. Connections with TLS are not supported.
  ///   - token: The token that the server asks for: letters, digits and `- _ . ~ +`.
  ///   - timeout: The largest time until the connection is open.
  /// - Throws: A ``ClearwayError`` with ``ClearwayError/Code/invalidArgument``;
  ///   ``ClearwayError/Code/failed`` if no one listens there; ``ClearwayError/Code/transportClosed``
  ///   with the reason `refused` if the server refuses the connection, and with `protocol`, `lost` or
  ///   `timeout`; `CancellationError` at once if the task is cancelled.
  public static func connect(
    webSocket url: String, token: String? = nil, limits: TransportLimits = .standard,
    timeout: Duration = .seconds(10)
  ) async throws -> StreamTransport {
    let address = try WebSocketAddress(url)
    let offers = try webSocketOffers(token)
    // A sum with the time must not overflow.
    let timeoutMs = min(timeout.milliseconds, 1 << 40)
    let untilMs = SystemClock().nowMs + timeoutMs
    let opened = try await onThread(
      limitMs: timeoutMs, late: WebSocketHandshake.late,
      closing: { (opened: OpenedWebSocket) in System.close(opened.fd) }
    ) { () throws(ClearwayError) -> OpenedWebSocket in
      let fd: Int32
      do throws(ClearwayError) {
        fd = try connected(.tcp(host: address.host, port: address.port), untilMs: untilMs)
      } catch {
        // The same error as that of the limit, which may be over at the same time.
        throw SystemClock().nowMs < untilMs ? error : WebSocketHandshake.late
      }
      do throws(ClearwayError) {
        return try WebSocketHandshake(fd, untilMs).run(address, offers)
      } catch {
        System.close(fd)
        throw error
      }
    }
    return try StreamTransport(
      input: opened.fd, output: opened.fd, name: "websocket", limits: limits, isTrusted: false,
      owns: true, child: nil,
      framing: WebSocketFraming(
        role: .client, hasMarks: opened.hasMarks, keepAlive: KeepAlive()), first: opened.rest)
  }
}

/// The address of a server of WebSockets.
struct WebSocketAddress: Equatable {
  let host: String
  let port: Int
  /// The path with its query.
  let path: String
  /// The header `Host`.
  let authority: String

  private static let scheme = "ws://"

  init(_ url: String) throws(ClearwayError) {
    func invalid() -> ClearwayError {
      ClearwayError(.invalidArgument, "url must be ws://HOST[:PORT][/PATH]: url=\(url)")
    }
    // A character that ends a line or a word would change the request.
    guard url.hasPrefix(Self.scheme), url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      !url.contains("#")
    else { throw invalid() }
    let rest = url.dropFirst(Self.scheme.count)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = String(rest[..<end])
    self.authority = authority
    path = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/" + rest[end...]
    // The port follows the last colon that is not inside the brackets of an IPv6 address.
    let bracket = authority.lastIndex(of: "]")
    let colon = authority.lastIndex(of: ":").flatMap { at in (bracket ?? at) <= at ? at : nil }
    var name = authority[..<(colon ?? authority.endIndex)]
    let digits = colon.map { authority[authority.index(after: $0)...] } ?? "80"
    guard digits.allSatisfy(\.isNumber), let number = Int(digits), (1...65_535).contains(number)
    else { throw invalid() }
    if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
    guard !name.isEmpty, !name.contains(where: { "[]@".contains($0) }) else { throw invalid() }
    host = String(name)
    port = number
  }
}

/// The name of the protocol between two ends of Clearway.
private let subprotocol = "clearway.channel.1"

/// The largest token, in characters.
private let tokenMax = 2048

/// Returns the subprotocols that this end offers. The token is one of them.
func webSocketOffers(_ token: String?) throws(ClearwayError) -> String {
  guard let token else { return subprotocol }
  let isValid = token.utf8.allSatisfy { byte in
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    default: "-_.~+".utf8.contains(byte)
    }
  }
  guard isValid, (1...tokenMax).contains(token.utf8.count) else {
    // The error does not contain the token, because error messages are logged.
    throw ClearwayError(
      .invalidArgument,
      "token must be 1 to \(tokenMax) letters, digits or any of - _ . ~ +: it has \(token.utf8.count)"
    )
  }
  return "\(subprotocol), clearway.token.\(token)"
}

/// A connection after the handshake.
struct OpenedWebSocket: Sendable {
  let fd: Int32
  /// The bytes that arrived behind the server's answer.
  let rest: [UInt8]
  let hasMarks: Bool
}

/// The request of a WebSocket and the server's answer. Blocks its thread.
struct WebSocketHandshake {
  private let fd: Int32
  private let untilMs: Int64

  /// The largest answer, in bytes. Common servers refuse a header of 8 KiB.
  private static let answerBytesMax = 16_384

  init(_ fd: Int32, _ untilMs: Int64) {
    self.fd = fd
    self.untilMs = untilMs
  }

  func run(_ address: WebSocketAddress, _ offers: String) throws(ClearwayError) -> OpenedWebSocket {
    let key = base64((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    try write(
      Array(
        """
        GET \(address.path) HTTP/1.1\r
        Host: \(address.authority)\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: \(key)\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Protocol: \(offers)\r
        \r

        """.utf8))
    let (head, rest) = try readHead()
    return OpenedWebSocket(fd: fd, rest: rest, hasMarks: try Self.hasMarks(head, key: key))
  }

  /// Checks the server's answer. Returns whether it is Clearway's.
  static func hasMarks(_ head: String, key: String) throws(ClearwayError) -> Bool {
    var lines = head.split(separator: "\r\n")[...]
    let status = lines.popFirst()?.split(separator: " ", maxSplits: 2) ?? []
    guard status.count >= 2, status[0].hasPrefix("HTTP/1."), let number = Int(status[1]) else {
      throw refusal(.protocolViolation, "the server does not speak HTTP")
    }
    guard number == 101 else {
      throw refusal(.refused, "the server refused the connection: HTTP status \(number)")
    }
    var headers: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw refusal(.protocolViolation, "a header without a colon") }
      let value = parts[1].drop { $0 == " " || $0 == "\t" }
      headers[parts[0].lowercased()] = String(value.reversed().drop { $0 == " " }.reversed())
    }
    let upgrades = headers["connection"]?.lowercased().split { $0 == "," || $0 == " " } ?? []
    guard headers["upgrade"]?.lowercased() == "websocket", upgrades.contains("upgrade"),
      headers["sec-websocket-accept"] == accepted(key)
    else { throw refusal(.protocolViolation, "the server's answer is not that of a WebSocket") }
    if let extensions = headers["sec-websocket-extensions"], !extensions.isEmpty {
      throw refusal(.protocolViolation, "the server chose an extension that was not offered")
    }
    switch headers["sec-websocket-protocol"] {
    case subprotocol: return true
    case nil: return false
    default: throw refusal(.protocolViolation, "the server chose another subprotocol")
    }
  }

  /// Returns the header that proves that the server has read the key.
  static func accepted(_ key: String) -> String {
    base64(sha1(Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
  }

  /// The error of a connection that is not open in time.
  static var late: ClearwayError { refusal(.timeout, "the connection was not open in time") }

  private static func refusal(_ code: CloseReason.Code, _ message: String) -> ClearwayError {
    ClearwayError(.transportClosed, message, reason: CloseReason(code, message))
  }

  private func wait(for events: Int32) throws(ClearwayError) {
    while true {
      let leftMs = untilMs - SystemClock().nowMs
      if leftMs <= 0 { throw Self.late }
      var place = pollfd(fd: fd, events: Int16(events), revents: 0)
      if poll(&place, 1, Int32(clamping: leftMs)) > 0 { return }
    }
  }

  private func write(_ bytes: [UInt8]) throws(ClearwayError) {
    var done = 0
    while done < bytes.count {
      let outcome = bytes.withUnsafeBytes { memory in
        System.write(fd, UnsafeRawBufferPointer(rebasing: memory[done...]))
      }
      switch outcome {
      case .bytes(let count): done += count
      case .wouldBlock: try wait(for: Int32(POLLOUT))
      case .failed(let why): throw Self.refusal(.lost, "the connection broke: \(why)")
      }
    }
  }

  /// Reads to the end of the headers. Returns them and what follows.
  private func readHead() throws(ClearwayError) -> (head: String, rest: [UInt8]) {
    let end = Array("\r\n\r\n".utf8)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      try wait(for: Int32(POLLIN))
      switch piece.withUnsafeMutableBytes({ System.read(fd, $0) }) {
      case .wouldBlock: continue
      case .failed(let why): throw Self.refusal(.lost, "the connection broke: \(why)")
      case .bytes(0): throw Self.refusal(.lost, "the server closed the connection")
      case .bytes(let count):
        let from = max(0, bytes.count - 3)
        bytes += piece[..<count]
        for at in from..<max(from, bytes.count - 3) where bytes[at..<(at + 4)].elementsEqual(end) {
          guard let head = try? StringCodec().decode(Array(bytes[..<at])) else {
            throw Self.refusal(.protocolViolation, "the server does not speak HTTP")
          }
          return (head, Array(bytes[(at + 4)...]))
        }
        if bytes.count > Self.answerBytesMax {
          throw Self.refusal(.protocolViolation, "the server's answer is too long")
        }
      }
    }
  }
}

// What the handshake of a WebSocket needs (RFC 6455, 4.2.2). It protects nothing.

/// Returns the SHA-1 digest of bytes (RFC 3174).
func sha1(_ bytes: [UInt8]) -> [UInt8] {
  var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
  let bits = UInt64(bytes.count) * 8
  var padded = bytes + [0x80]
  while padded.count % 64 != 56 { padded.append(0) }
  padded += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
  for block in stride(from: 0, to: padded.count, by: 64) {
    var words = (0..<16).map { word in
      padded[(block + 4 * word)..<(block + 4 * word + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for at in 16..<80 {
      words.append(rotated(words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16], 1))
    }
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for at in 0..<80 {
      let (mixed, constant): (UInt32, UInt32) =
        switch at {
        case ..<20: (b & c | ~b & d, 0x5a82_7999)
        case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
        case ..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
        default: (b ^ c ^ d, 0xca62_c1d6)
        }
      let next = rotated(a, 5) &+ mixed &+ e &+ constant &+ words[at]
      (a, b, c, d, e) = (next, a, rotated(b, 30), c, d)
    }
    for (at, part) in [a, b, c, d, e].enumerated() { state[at] &+= part }
  }
  return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
}

private func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 {
  word << bits | word >> (32 - bits)
}

/// Returns the base64 text of bytes.
func base64(_ bytes: [UInt8]) -> String {
  let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  var text: [UInt8] = []
  for from in stride(from: 0, to: bytes.count, by: 3) {
    let group = bytes[from..<min(from + 3, bytes.count)]
    let value = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let bits = value << UInt32(8 * (3 - group.count))
    for place in 0..<4 {
      let isPadding = place > group.count
      text.append(
        isPadding ? UInt8(ascii: "=") : digits[Int(bits >> UInt32(18 - 6 * place)) & 63])
    }
  }
  return String(decoding: text, as: UTF8.self)
}
