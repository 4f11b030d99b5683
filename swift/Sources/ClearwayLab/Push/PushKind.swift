// SPDX-License-Identifier: MIT OR Apache-2.0

/// What a mechanism promises about the events.
///
/// The runner checks it; the figures count the rest.
enum Promise: Sendable {
  /// Every event arrives, and none after a later one.
  case everyInOrder
  /// Every event arrives.
  case every
  /// Events arrive in order.
  ///
  /// Some may be dropped, and the sender is told.
  case someInOrder
}

/// A mechanism that hands events over with one call from the sender's thread.
protocol Sending: Sendable {
  func send(_ event: Event)

  /// Says that no event follows, and returns the number of dropped ones.
  ///
  /// Events may still be on their way.
  func finish() -> Int
}

extension Sending {
  func finish() -> Int { 0 }
}

/// A mechanism that is open for one run.
enum Opened: Sendable {
  /// The lab's thread sends.
  case calls(any Sending)
  /// The mechanism sends from a task of its own, and returns the number of dropped events.
  case task(@Sendable (Load) async -> Int)
}

/// A push mechanism, by its name in the scenario files.
struct PushKind: Sendable {
  let name: String
  var promise = Promise.everyInOrder

  /// Says why the mechanism cannot run here and what to do.
  ///
  /// It is `nil` if the mechanism can.
  var unavailable: String?
  let open: @Sendable (Receiver) -> Opened

  init(
    _ name: String, promise: Promise = .everyInOrder, unavailable: String? = nil,
    open: @escaping @Sendable (Receiver) -> Opened
  ) {
    self.name = name
    self.promise = promise
    self.unavailable = unavailable
    self.open = open
  }

  /// A mechanism that cannot run here.
  static func missing(_ name: String, _ why: String) -> PushKind {
    PushKind(name, unavailable: why) { _ in .task { _ in 0 } }
  }
}

/// The mechanisms of every load.
let pushKinds: [PushKind] =
  callKinds + combineKinds + queueKinds + actorKinds + streamKinds + mainKinds
