// SPDX-License-Identifier: MIT OR Apache-2.0

/// How a client of a WebSocket notices a server that has gone silent (`spec/websocket.md`): by a ping each
/// 20 s, and by 30 s in which nothing has arrived. Does no input or output.
///
/// The time is measured in steps, so a pause of the process counts as one step.
struct KeepAlive {
  enum Due {
    case ping
    case lost(CloseReason)
  }

  private static let pingSteps = 4
  private static let silentStepsMax: Int64 = 6

  private let stepMs: Int64
  private let clock: any ChannelClock
  private var nextMs: Int64
  private var steps = 0
  private var silentSteps: Int64 = 0
  /// Whether bytes have arrived since the last step.
  private var hasHeard = true

  init(stepMs: Int64 = 5_000, clock: any ChannelClock = SystemClock()) {
    self.stepMs = stepMs
    self.clock = clock
    nextMs = clock.nowMs + stepMs
  }

  /// The time until the next step, in milliseconds.
  var leftMs: Int64 { nextMs - clock.nowMs }

  /// Records that bytes have arrived.
  mutating func heard() { hasHeard = true }

  /// Counts a step if its time has come, and returns what is due. Nothing can arrive while the input is
  /// not read.
  mutating func step(isRead: Bool) -> Due? {
    let nowMs = clock.nowMs
    if nowMs < nextMs { return nil }
    nextMs = nowMs + stepMs
    silentSteps = hasHeard || !isRead ? 0 : silentSteps + 1
    hasHeard = false
    if silentSteps == Self.silentStepsMax {
      return .lost(
        CloseReason(.lost, "the other end has sent nothing for \(silentSteps * stepMs) ms"))
    }
    steps += 1
    return steps.isMultiple(of: Self.pingSteps) ? .ping : nil
  }
}
