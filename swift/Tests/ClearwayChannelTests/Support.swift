// SPDX-License-Identifier: MIT OR Apache-2.0

import Foundation
import Testing

@testable import ClearwayChannel

/// A kind of transport, and how a pair of ends is made over it.
enum Carrier: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory
  case pipes
  case unixSocket
  case tcp
  case webSocket

  var testDescription: String { rawValue }

  func pair(limits: TransportLimits = .standard) async throws -> (
    any ChannelTransport, any ChannelTransport
  ) {
    switch self {
    case .memory: return MemoryTransport.pair(limits: limits)
    case .pipes:
      let (hereInput, thereOutput) = try System.pipe()
      let (thereInput, hereOutput) = try System.pipe()
      return (
        try StreamTransport(input: hereInput, output: hereOutput, limits: limits),
        try StreamTransport(input: thereInput, output: thereOutput, limits: limits)
      )
    case .unixSocket:
      let path = NSTemporaryDirectory() + "clearway-\(UUID().uuidString.prefix(8)).sock"
      return try await sockets(.unix(path), limits)
    case .tcp: return try await sockets(.tcp(host: "127.0.0.1", port: 0), limits)
    case .webSocket:
      let (hereInput, thereOutput) = try System.pipe()
      let (thereInput, hereOutput) = try System.pipe()
      func end(_ role: WebSocketFraming.Role, _ input: Int32, _ output: Int32) throws
        -> StreamTransport
      {
        try StreamTransport(
          input: input, output: output, name: "websocket", limits: limits, isTrusted: false,
          owns: true, child: nil, framing: WebSocketFraming(role: role, hasMarks: true))
      }
      return (try end(.client, hereInput, hereOutput), try end(.server, thereInput, thereOutput))
    }
  }

  private func sockets(_ address: SocketAddress, _ limits: TransportLimits) async throws -> (
    any ChannelTransport, any ChannelTransport
  ) {
    let listener = try SocketListener(address, limits: limits)
    defer { listener.close() }
    async let accepted = listener.accept()
    var to = address
    if case .tcp(let host, _) = address { to = .tcp(host: host, port: listener.port) }
    let here = try await StreamTransport.connect(to: to, limits: limits)
    return (here, try await accepted)
  }
}

/// Connects two endpoints.
func connected(
  _ carrier: Carrier = .memory, here: EndpointOptions = EndpointOptions(),
  there: EndpointOptions = EndpointOptions(), limits: TransportLimits = .standard
) async throws -> (Endpoint, Endpoint) {
  let (one, other) = try await carrier.pair(limits: limits)
  async let first = Endpoint.connect(one, options: here)
  async let second = Endpoint.connect(other, options: there)
  return (try await first, try await second)
}

/// A promise of one value that several tasks may await.
final class Promise<T: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var value: T?
  private var waiting: [CheckedContinuation<T, Never>] = []

  func fulfil(_ value: T) {
    let resumed = lock.held {
      if self.value != nil { return [CheckedContinuation<T, Never>]() }
      self.value = value
      defer { waiting = [] }
      return waiting
    }
    for each in resumed { each.resume(returning: value) }
  }

  func get() async -> T {
    await withCheckedContinuation { continuation in
      let known = lock.held {
        if value == nil { waiting.append(continuation) }
        return value
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}

/// A value that several threads change.
final class Guarded<T: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var stored: T
  init(_ value: T) { stored = value }
  var value: T { lock.held { stored } }
  func update<R>(_ body: (inout T) -> R) -> R { lock.held { body(&stored) } }
}

/// A clock that tests advance.
final class FakeClock: ChannelClock, @unchecked Sendable {
  private let lock = Lock()
  private var now: Int64 = 0
  private var last = 0
  private var timers: [Int: (at: Int64, act: @Sendable () -> Void)] = [:]

  var nowMs: Int64 { lock.held { now } }
  var count: Int { lock.held { timers.count } }

  func after(_ ms: Int64, _ act: @escaping @Sendable () -> Void) -> ChannelTimer {
    let id = lock.held {
      last += 1
      timers[last] = (now &+ ms, act)
      return last
    }
    return ChannelTimer { [weak self] in self?.lock.held { self?.timers[id] = nil } }
  }

  func advance(_ ms: Int64) {
    let due = lock.held {
      now += ms
      let due = timers.filter { $0.value.at <= now }.sorted { $0.value.at < $1.value.at }
      for each in due { timers[each.key] = nil }
      return due
    }
    for each in due { each.value.act() }
  }
}

/// Returns a file of the repository as a value of JSON.
func json(_ path: String) throws -> Value {
  let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  let data = try Data(contentsOf: root.appendingPathComponent(path))
  return try JSONMessageCodec().decode([UInt8](data))
}

func repositoryText(_ path: String) throws -> String {
  let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
}

func unhex(_ text: String) -> [UInt8] {
  let digits = text.utf8.compactMap { hexValue($0) }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Yields to other tasks until a condition holds. The tests' time limit ends a wait that is vain.
func eventually(_ condition: @Sendable () async -> Bool) async {
  while !(await condition()) { await Task.yield() }
}

/// Returns the code of the error that `body` throws; nil if it throws none, or another one.
func code(_ body: () async throws -> Void) async -> ClearwayError.Code? {
  do {
    try await body()
    return nil
  } catch let error as ClearwayError {
    return error.code
  } catch {
    return nil
  }
}

/// Returns a frame whose attachments are inside, as TypeScript writes them. Their bytes are zeros.
func frameWithAttachments(
  _ head: Head, _ sizes: [Int], name: String = "", body: [UInt8] = []
) -> [UInt8] {
  var head = head
  head.flags |= Flag.inside
  var frame = writeFrame(head, name: Array(name.utf8), body: body)
  func pad() { frame += [UInt8](repeating: 0, count: -frame.count & 7) }
  (frame[20], frame[21]) = (UInt8(sizes.count & 0xff), UInt8(sizes.count >> 8))
  pad()
  for size in sizes { frame += (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) } }
  pad()
  for size in sizes {
    frame += [UInt8](repeating: 0, count: size)
    pad()
  }
  return frame
}

/// Records what a transport delivers.
final class Recorder: ChannelSink, @unchecked Sendable {
  let frames = Guarded([[UInt8]]())
  let hasRoom = Promise<Void>()
  let reason = Promise<CloseReason>()
  var onFrame: @Sendable () -> Void = {}

  func frame(_ frame: [UInt8]) {
    frames.update { $0.append(frame) }
    onFrame()
  }

  func drained() { hasRoom.fulfil(()) }
  func closed(_ reason: CloseReason) { self.reason.fulfil(reason) }
}
