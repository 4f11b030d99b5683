// SPDX-License-Identifier: MIT OR Apache-2.0

import Foundation
import Testing

@testable import ClearwayChannel

@Suite("A transport", .timeLimit(.minutes(2)))
struct TransportTests {
  @Test(
    "The vectors of streams give their frames and reasons, in pieces of any size",
    arguments: [1, 3, 1000])
  func streamVectors(_ piece: Int) throws {
    let vectors = try json("spec/vectors/stdio.json")
    let most = try #require(vectors["frameBytesMax"]?.intValue)
    let streams = try #require(vectors["streams"]?.listValue)
    #expect(streams.count > 5)
    for stream in streams {
      let name = stream["name"]?.stringValue ?? ""
      var reader = FrameReader(frameBytesMax: Int(most))
      var frames: [Value] = []
      var end: CloseReason?
      let bytes = unhex(stream["hex"]?.stringValue ?? "")
      bytes.withUnsafeBytes { bytes in
        for from in stride(from: 0, to: bytes.count, by: piece) {
          let part = UnsafeRawBufferPointer(rebasing: bytes[from..<min(bytes.count, from + piece)])
          reader.push(part) { event in
            switch event {
            case .frame(let frame):
              frames.append(hexText(frame[...]))
            case .end(let reason): end = reason
            default: Issue.record("\(name): another event")
            }
          }
        }
      }
      #expect(.list(frames) == stream["frames"], "\(name)")
      #expect(end?.code.rawValue == stream["end"]?["code"]?.stringValue, "\(name)")
      if let message = stream["end"]?["message"]?.stringValue { #expect(end?.message == message) }
      if stream["end"]?.isNull ?? true {
        #expect(.bool(reader.isInside) == stream["inside"], "\(name)")
      }
    }
  }

  @Test("The vectors of frames are read and written to the byte")
  func frameVectors() throws {
    let vectors = try json("spec/vectors/channel.json")
    let frames = try #require(vectors["frames"]?.listValue)
    for vector in frames where vector["parts"]?["beside"] == nil {
      let bytes = unhex(vector["hex"]?.stringValue ?? "")
      let name = vector["name"]?.stringValue ?? ""
      let frame = try #require(readFrame(bytes), "\(name)")
      let parts = try #require(vector["parts"])
      func number(_ key: String) -> Int64 { parts[key]?.intValue ?? 0 }
      #expect(Int64(frame.head.op) == number("op"), "\(name)")
      #expect(Int64(frame.head.flags & ~Flag.inside) == number("flags"), "\(name)")
      let inside = frame.message.attachments.map { hexText(bytes[$0]) }
      #expect(.list(inside) == parts["inside"] ?? [], "\(name)")
      #expect(Int64(frame.head.id) == number("id"), "\(name)")
      #expect(Int64(frame.head.a) == number("a"), "\(name)")
      #expect(Int64(frame.head.b) == number("b"), "\(name)")
      #expect(Int64(frame.head.c) == number("c"), "\(name)")
      let body = Array(bytes[frame.message.body])
      #expect(body == unhex(parts["body"]?.stringValue ?? ""), "\(name)")
      if frame.message.attachments.isEmpty {
        #expect(
          writeFrame(frame.head, name: Array(bytes[frame.name]), body: body) == bytes, "\(name)")
      }
    }
    for vector in try #require(vectors["refused"]?.listValue) {
      #expect(readFrame(unhex(vector["hex"]?.stringValue ?? "")) == nil)
    }
  }

  @Test("A child process carries a channel, and its exit is the reason of the end")
  func child() async throws {
    // The child returns every byte, so this endpoint is its own other end.
    let cat = try ChildProcess("cat")
    let endpoint = try await Endpoint.connect(try StreamTransport(child: cat))
    try endpoint.messages("self").handle { message, _ in [message] }
    #expect(try await endpoint.messages("self").send("hi") == ["hi"])
    endpoint.terminate()
    #expect(await cat.exit() == 0)

    let failing = try ChildProcess(
      "sh", arguments: ["-c", "exit $CODE"], environment: ["CODE": "3"])
    do {
      _ = try await Endpoint.connect(try StreamTransport(child: failing))
      Issue.record("a child without a hello was connected")
    } catch let error as ClearwayError {
      #expect(error.reason?.code == .lost)
      #expect(error.reason?.detail["exitCode"] == 3)
    }
    #expect(await failing.exit() == 3)
    #expect(await code { _ = try ChildProcess("/no/such/program") } == .failed)
  }

  @Test("A child process is forgotten although its endpoint was never connected")
  func unopened() async throws {
    let file = NSTemporaryDirectory() + "clearway-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: file) }
    func refuses() async throws {
      let child = try ChildProcess("sh", arguments: ["-c", "echo $$ > \(file); cat"])
      var options = EndpointOptions()
      options.callsMax = 0
      let transport = try StreamTransport(child: child)
      #expect(
        await code { _ = try await Endpoint.connect(transport, options: options) }
          == .invalidArgument)
      await eventually {
        (try? String(contentsOfFile: file, encoding: .utf8))?.hasSuffix("\n") ?? false
      }
    }
    try await refuses()
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let pid = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    await eventually { kill(pid, 0) != 0 }
  }

  @Test("The exit of a child that another part of the program has waited for is -1")
  func waitedElsewhere() async throws {
    let child = try ChildProcess("true")
    var status: Int32 = 0
    while waitpid(child.pid, &status, 0) < 0, errno == EINTR {}
    child.reap()
    #expect(await child.exit() == -1)
    child.terminate()
  }

  @Test(
    "A transport that is closed before it is opened tells the other end, and closes its streams")
  func closedUnopened() async throws {
    let (input, theirOutput) = try System.pipe()
    let (theirInput, output) = try System.pipe()
    let transport = try StreamTransport(input: input, output: output)
    transport.close(CloseReason(.refused, "full"))
    #expect(try await endOf(theirInput)?.code == .refused)
    System.close(theirOutput)
    System.close(theirInput)
    let sink = Recorder()
    transport.open(sink)
    #expect(await sink.reason.get().code == .refused)
  }

  @Test("A parent's transport without references closes its output, and not its input")
  func parentUnopened() async throws {
    let ((input, theirOutput), (theirInput, output)) = (try System.pipe(), try System.pipe())
    _ = try StreamTransport(
      input: input, output: output, name: "stdio", limits: .standard, isTrusted: true, owns: false,
      child: nil)
    #expect(try await endOf(theirInput)?.code == nil)
    #expect(fcntl(input, F_GETFD) >= 0)
    for fd in [input, theirOutput, theirInput] { System.close(fd) }
  }

  @Test("A connect in a cancelled task closes the streams")
  func cancelledConnect() async throws {
    let (input, theirOutput) = try System.pipe()
    let (theirInput, output) = try System.pipe()
    let transport = try StreamTransport(input: input, output: output)
    let connecting = Task {
      while !Task.isCancelled { await Task.yield() }
      _ = try await Endpoint.connect(transport)
    }
    connecting.cancel()
    await #expect(throws: CancellationError.self) { try await connecting.value }
    #expect(try await endOf(theirInput)?.code == .closed)
    System.close(theirOutput)
    System.close(theirInput)
  }

  /// Reads to the end of a pipe. Returns the reason of the close frame.
  private func endOf(_ fd: Int32) async throws -> CloseReason? {
    System.prepare(fd)
    var reader = FrameReader(frameBytesMax: 1 << 20)
    var reason: CloseReason?
    while true {
      var piece = [UInt8](repeating: 0, count: 4096)
      switch piece.withUnsafeMutableBytes({ System.read(fd, $0) }) {
      case .bytes(let count) where count > 0:
        piece.withUnsafeBytes { bytes in
          reader.push(UnsafeRawBufferPointer(rebasing: bytes[..<count])) {
            if case .end(let said) = $0 { reason = said }
          }
        }
      case .wouldBlock: await Task.yield()
      default: return reason
      }
    }
  }

  @Test(
    "A paused end learns that the other end has room, although frames wait",
    arguments: [Carrier.memory, .webSocket])
  func roomWhilePaused(_ carrier: Carrier) async throws {
    let (here, there) = try await carrier.pair(limits: try TransportLimits(windowBytes: 1 << 16))
    let (sink, other) = (Recorder(), Recorder())
    here.open(sink)
    there.open(other)
    here.pause()
    there.pause()
    let big = [UInt8](repeating: 1, count: 1 << 17)
    let rooms = [there.send(big), here.send(big)]
    #expect(rooms == [false, false])
    there.resume()
    await sink.hasRoom.get()
    #expect(sink.frames.value.isEmpty)
    here.resume()
    await other.hasRoom.get()
    here.close(.closed)
    #expect(await other.reason.get().code == .closed)
  }

  @Test("A child process that no transport has reads the end of its input, and no process is left")
  func untaken() async throws {
    let file = NSTemporaryDirectory() + "clearway-\(UUID().uuidString.prefix(8))"
    defer {
      for name in [file, file + ".pid"] { try? FileManager.default.removeItem(atPath: name) }
    }
    _ = try ChildProcess("sh", arguments: ["-c", "echo $$ > \(file).pid; cat; echo > \(file)"])
    await eventually { FileManager.default.fileExists(atPath: file) }
    let text = try String(contentsOfFile: file + ".pid", encoding: .utf8)
    let pid = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    await eventually { kill(pid, 0) != 0 }
  }

  @Test("A killed child ends its calls with lost")
  func killed() async throws {
    let cat = try ChildProcess("cat")
    let endpoint = try await Endpoint.connect(try StreamTransport(child: cat))
    let started = Promise<Void>()
    try endpoint.messages("self").handle { _, _ in
      started.fulfil(())
      let never = Promise<Void>()
      await withTaskCancellationHandler {
        await never.get()
      } onCancel: {
        never.fulfil(())
      }
      return nil
    }
    async let call = code { _ = try await endpoint.messages("self").send(nil) }
    await started.get()
    cat.terminate()
    #expect(await call == .transportClosed)
    #expect(await endpoint.closed().code == .lost)
    #expect(await cat.exit() == 128 + 15)
  }

  @Test("A listener accepts until it is closed, and a cancelled accept leaves no one waiting")
  func listener() async throws {
    let path = NSTemporaryDirectory() + "clearway-\(UUID().uuidString.prefix(8)).sock"
    let listener = try SocketListener(.unix(path))
    let waiting = Task { _ = try await listener.accept() }
    await Task.yield()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    async let accepted = listener.accept()
    let transport = try await StreamTransport.connect(to: .unix(path))
    transport.close(.closed)
    _ = try await accepted
    #expect(await code { _ = try SocketListener(.unix(path)) } == .failed)
    listener.close()
    #expect(await code { _ = try await listener.accept() } == .closed)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(await code { _ = try await StreamTransport.connect(to: .unix(path)) } == .failed)
    let long = String(repeating: "p", count: 200)
    #expect(
      await code { _ = try await StreamTransport.connect(to: .unix(long)) } == .invalidArgument)
    #expect(
      await code { _ = try SocketListener(.tcp(host: "127.0.0.1", port: 70_000)) }
        == .invalidArgument)
  }

  @Test(
    "A sender waits while the other end reads nothing, and then goes on",
    arguments: Carrier.allCases)
  func backPressure(_ carrier: Carrier) async throws {
    let limits = try TransportLimits(windowBytes: 20_000)
    let (one, other) = try await carrier.pair(limits: limits)
    async let first = Endpoint.connect(one)
    async let second = Endpoint.connect(other)
    let (here, there) = (try await first, try await second)
    let seen = Guarded(0)
    try there.messages("m", codec: BinaryCodec()).handle { _, _ in
      seen.update { $0 += 1 }
      return nil
    }
    other.pause()
    let posted = Guarded(0)
    let posting = Task {
      for _ in 0..<200 {
        try await here.messages("m", codec: BinaryCodec()).post(
          [UInt8](repeating: 7, count: 40_000))
        posted.update { $0 += 1 }
      }
    }
    await eventually { posted.value > 0 }
    other.resume()
    try await posting.value
    await eventually { seen.value == 200 }
    await here.close()
  }

  @Test("A connect to a Unix socket whose listener has no room waits for room, or fails")
  func fullBacklog() async throws {
    let path = NSTemporaryDirectory() + "clearway-\(UUID().uuidString.prefix(8)).sock"
    let listener = try SocketListener(.unix(path), backlog: 1)
    defer { listener.close() }
    var connected: [StreamTransport] = []
    let refused = await code {
      for _ in 0..<16 {
        connected.append(
          try await StreamTransport.connect(to: .unix(path), timeout: .milliseconds(1)))
      }
    }
    #expect(refused == .failed)
    #expect(connected.count < 16)
    async let late = StreamTransport.connect(to: .unix(path), timeout: .seconds(100))
    for _ in connected { connected.append(try await listener.accept()) }
    let other = try await listener.accept()
    for transport in [try await late, other] + connected { transport.close(.closed) }
  }

  @Test("A paused end in memory reads what waits and the end when the other end closes")
  func closedWhilePaused() async throws {
    let (here, there) = MemoryTransport.pair()
    let sink = Recorder()
    here.open(sink)
    here.pause()
    _ = there.send([1])
    there.close(CloseReason(.refused, "no"))
    #expect(await sink.reason.get().code == .refused)
    #expect(sink.frames.value == [[1]])
  }

  #if os(Linux)
    @Test("A sender goes on when the answer to a ping has written all that waited")
    func roomAfterAnswer() async throws {
      let (input, theirOutput) = try System.pipe()
      let (theirInput, output) = try System.pipe()
      let setsPipeSize: Int32 = 1031
      let pipeBytes = Int(fcntl(output, setsPipeSize, 4096))
      let transport = try StreamTransport(
        input: input, output: output, name: "websocket",
        limits: try TransportLimits(windowBytes: 1 << 16), isTrusted: false, owns: true, child: nil,
        framing: WebSocketFraming(role: .server, hasMarks: false))
      let sink = Recorder()
      let (isInside, goesOn) = (Promise<Void>(), DispatchSemaphore(value: 0))
      sink.onFrame = {
        isInside.fulfil(())
        goesOn.wait()
      }
      transport.open(sink)
      // The window is still full when the pipe is.
      #expect(!transport.send([UInt8](repeating: 7, count: (1 << 16) + 8 * pipeBytes)))
      // What waits then is below the window, and above the half that makes room.
      try await read(theirInput, 12 * pipeBytes + 1)
      // The transport's thread waits in the first frame, so it learns of the room in the pipe by the
      // answer to the ping only.
      let framing = WebSocketFraming(role: .client, hasMarks: false)
      let frames = [(framing.frameKind, [UInt8(1)]), (WebSocketLayout.ping, [])].flatMap {
        let (header, body) = framing.pack($0.0, $0.1)
        return header + body
      }
      _ = frames.withUnsafeBytes { System.write(theirOutput, $0) }
      await isInside.get()
      #expect(fcntl(output, setsPipeSize, 1 << 20) >= 1 << 20)
      goesOn.signal()
      await sink.hasRoom.get()
      transport.close(.closed)
      System.close(theirOutput)
      System.close(theirInput)
      _ = await sink.reason.get()
    }

    private func read(_ fd: Int32, _ count: Int) async throws {
      System.prepare(fd)
      var left = count
      while left > 0 {
        var piece = [UInt8](repeating: 0, count: min(left, 4096))
        switch piece.withUnsafeMutableBytes({ System.read(fd, $0) }) {
        case .bytes(let count) where count > 0: left -= count
        case .wouldBlock: await Task.yield()
        default: throw ClearwayError(.failed, "the pipe has ended")
        }
      }
    }
  #endif
}

private func hexText(_ bytes: ArraySlice<UInt8>) -> Value {
  .string(bytes.map { String(format: "%02x", $0) }.joined())
}
