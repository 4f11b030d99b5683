// SPDX-License-Identifier: MIT OR Apache-2.0
// The quick start of swift/README.md. The tests run it.

import ClearwayChannel

@main
struct Main {
  static func main() async throws {
    // #region serve
    let listener = try SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let server = Task {
      let endpoint = try await Endpoint.connect(try await listener.accept())
      try endpoint.methods("images").handle { call, _ in
        guard call.method == "resize" else { throw ClearwayError(.notImplemented, call.method) }
        return ["width": call.arguments["width"] ?? 0, "done": true]
      }
      try endpoint.events("progress").serve { arguments, sink in
        let steps = arguments["steps"]?.intValue ?? 1
        for step in 0..<max(0, steps) { try await sink.send(.int(step + 1)) }
      }
      return await endpoint.closed()
    }
    // #endregion serve

    // #region call
    struct Job: Codable { var width: Int }
    struct Answer: Codable { var width: Int, done: Bool }

    let transport = try await StreamTransport.connect(
      to: .tcp(host: "127.0.0.1", port: listener.port))
    let endpoint = try await Endpoint.connect(transport)
    let images = try endpoint.methods("images")
    let answer: Answer = try await images.call(
      "resize", Job(width: 320), options: CallOptions(deadline: .seconds(2)))

    for try await step in try endpoint.events("progress").listen(["steps": 3]) {
      print("step", step.intValue ?? 0)
    }
    await endpoint.close()
    // #endregion call

    // #region extension
    struct Point: Hashable { var x, y: Double }

    let points = try CodecExtension(tag: 128, Point.self) { point, writer in
      writer.float64(point.x)
      writer.float64(point.y)
    } read: { reader in
      Point(x: try reader.float64(), y: try reader.float64())
    }
    let codec = try StandardMessageCodec(extensions: [points])
    let message = try codec.encode([Value(custom: Point(x: 1, y: 2))])
    let point: Point? = try codec.decode(message)[0]?.customValue()
    // #endregion extension

    print("point", point?.x ?? 0, point?.y ?? 0)
    print("width", answer.width, "done", answer.done)
    print("server:", try await server.value.code.rawValue)
    listener.close()
  }
}
