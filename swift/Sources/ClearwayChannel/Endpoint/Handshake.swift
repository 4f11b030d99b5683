// SPDX-License-Identifier: MIT OR Apache-2.0

/// Receives the frames of a transport: the hello, and then those of the endpoint.
final class Handshake: ChannelSink, @unchecked Sendable {
  private let transport: any ChannelTransport
  private let settings: EndpointOptions
  private let lock = Lock()
  private var continuation: CheckedContinuation<Core, any Error>?
  private var timer: ChannelTimer?
  private var isOver = false
  /// Only the transport's calls, which come one at a time, read and write it.
  private var core: Core?

  init(_ transport: any ChannelTransport, _ settings: EndpointOptions) {
    self.transport = transport
    self.settings = settings
  }

  /// Sends this end's hello and waits for the other end's.
  func connect() async throws -> Core {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = lock.held {
          if !isOver { self.continuation = continuation }
          return isOver
        }
        if isCancelled { return continuation.resume(throwing: CancellationError()) }
        begin()
      }
    } onCancel: {
      refuse(CancellationError(), .closed)
    }
  }

  private func begin() {
    if let limit = settings.helloTimeout {
      let timer = settings.clock.after(limit.milliseconds) { [self] in
        let what = "no hello from the other end in \(limit)"
        refuse(ClearwayError(.deadline, what), CloseReason(.timeout, what))
      }
      lock.held { self.timer = timer }
    }
    transport.open(self)
    let hello = Hello(
      frameBytesMax: transport.frameBytesMax, nameBytesMax: settings.nameBytesMax,
      callsMax: settings.callsMax)
    _ = transport.send(hello.frame())
  }

  func frame(_ bytes: [UInt8]) {
    if let core { return core.frame(bytes) }
    guard let there = readFrame(bytes).flatMap(Hello.init) else {
      return violated("the other end said no hello")
    }
    if there.version != Hello.version {
      return violated(
        "the other end speaks version \(there.version) of the wire, and this one \(Hello.version)")
    }
    if there.wires & Hello.clearway == 0 { return violated("no wire in common with the other end") }
    if there.frameBytesMax < Hello.frameBytesMin {
      return violated("the other end takes frames of \(there.frameBytesMax) bytes only")
    }
    guard let continuation = take() else { return }
    let core = Core(transport, settings, there: there)
    self.core = core
    continuation.resume(returning: core)
  }

  func drained() { core?.drained() }

  func closed(_ reason: CloseReason) {
    if let core { return core.ended(reason) }
    take()?.resume(
      throwing: ClearwayError(
        .transportClosed, "before the hello: \(reason.message)", reason: reason))
  }

  private func violated(_ what: String) {
    refuse(ClearwayError(.protocolViolation, what), CloseReason(.protocolViolation, what))
  }

  private func refuse(_ error: any Error, _ reason: CloseReason) {
    let (continuation, isFirst) = lock.held {
      defer { isOver = true }
      return (self.continuation, !isOver)
    }
    if !isFirst { return }
    transport.close(reason)
    lock.held { self.continuation = nil }
    timer?.stop()
    continuation?.resume(throwing: error)
  }

  private func take() -> CheckedContinuation<Core, any Error>? {
    lock.held {
      isOver = true
      timer?.stop()
      defer { continuation = nil }
      return continuation
    }
  }
}
