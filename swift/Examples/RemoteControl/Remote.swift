// SPDX-License-Identifier: MIT OR Apache-2.0

import ClearwayChannel

/// The channels of the remote control: methods, commands and frames.
struct Remote {
  private let methods: MethodChannel
  private let commands: MessageChannel<BinaryCodec>
  private let frames: EventChannel
  /// The number of the last command.
  private var last = 0

  init(_ endpoint: Endpoint) throws {
    methods = try endpoint.methods("remote")
    commands = try endpoint.messages("remote/command", codec: BinaryCodec())
    frames = try endpoint.events("remote/frames")
  }

  /// Changes the simulated network. The delay applies to both directions.
  func addDelay(_ ms: Double) async throws {
    _ = try await methods.call(
      "weather", ["delayMs": .double(ms), "lossRate": 0.0, "bytesPerSecond": 0.0])
  }

  /// Sends commands, and measures each until a frame shows it. Measures a ping beside each one.
  mutating func measure(_ count: Int, into meter: inout Meter) async throws {
    // #region frames
    let size: Value = ["width": 320, "height": 180, "rate": 30]
    var sent: [Int: ContinuousClock.Instant] = [:]
    // Only the newest frame is worth drawing: the server drops frames that would come late.
    for try await frame in try frames.listen(size, options: .latest) {
      let arrived = ContinuousClock.now
      let pixels = frame["pixels"]?.bytesValue ?? []
      meter.countFrame(number: frame["number"]?.intValue ?? 0, bytes: pixels.count)
      for shown in Shown.all(in: frame) {
        guard let start = sent.removeValue(forKey: shown.command) else { continue }
        meter.add(shown, whole: milliseconds(arrived - start))
      }
      if meter.trips >= count { break }
      // #endregion frames
      let pinged = ContinuousClock.now
      _ = try await methods.call("ping")
      meter.addPing(milliseconds(ContinuousClock.now - pinged))
      last += 1
      sent[last] = ContinuousClock.now
      try await commands.post(Self.command(last))
    }
  }

  /// A command: its number, a position and the buttons, as little-endian numbers of 32 bits.
  private static func command(_ number: Int) -> [UInt8] {
    [number, 20 + number % 100, 20 + number % 60, 0].flatMap { part in
      (0..<4).map { UInt8(truncatingIfNeeded: part >> (8 * $0)) }
    }
  }
}

func milliseconds(_ duration: Duration) -> Double {
  let (seconds, attoseconds) = duration.components
  return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
}
