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

/// A frame's report of one command that it shows. The times are durations on the server's clock.
struct Shown {
  let command: Int
  /// From the command's arrival at the server to the sending of the frame.
  let keptMs: Double
  /// The part of it in which native code drew.
  let nativeMs: Double

  static func all(in frame: Value) -> [Shown] {
    guard case .doubles(let numbers) = frame["shown"] else { return [] }
    return stride(from: 0, to: numbers.count - 2, by: 3).compactMap { at in
      Int(exactly: numbers[at]).map {
        Shown(command: $0, keptMs: numbers[at + 1], nativeMs: numbers[at + 2])
      }
    }
  }
}

/// Splits round trips into their parts, without comparing two clocks: the server says how long it
/// kept a command, this end measures the whole, and the rest is the network's.
struct Meter {
  private var rows: [String: [Double]] = [:]
  private var frames = 0
  private var bytes = 0
  private var firstFrame: Int64?
  private var lastFrame: Int64 = 0

  var trips: Int { rows["whole"]?.count ?? 0 }

  mutating func countFrame(number: Int64, bytes: Int) {
    frames += 1
    self.bytes += bytes
    firstFrame = firstFrame ?? number
    lastFrame = number
  }

  mutating func add(_ shown: Shown, whole: Double) {
    rows["whole", default: []].append(whole)
    rows["network", default: []].append(max(0, whole - shown.keptMs))
    rows["queue", default: []].append(max(0, shown.keptMs - shown.nativeMs))
    rows["native", default: []].append(shown.nativeMs)
  }

  mutating func addPing(_ ms: Double) { rows["ping", default: []].append(ms) }

  /// The medians and counts as a line of JSON.
  func line(label: String) -> String {
    var line: ValueMap = ["label": .string(label)]
    for (name, values) in rows.sorted(by: { $0.key < $1.key }) {
      line[name] = .double(values.sorted()[values.count / 2])
    }
    line["trips"] = .int(Int64(trips))
    line["frames"] = .int(Int64(frames))
    line["bytes"] = .int(Int64(bytes))
    // The numbers are the server's, and their difference may be none of 64 bits.
    line["dropped"] = .int(lastFrame &- (firstFrame ?? 0) &+ 1 &- Int64(frames))
    let text = try? JSONMessageCodec().encode(.map(line))
    return String(decoding: text ?? [], as: UTF8.self)
  }
}
