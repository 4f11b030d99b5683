// SPDX-License-Identifier: MIT OR Apache-2.0
import Foundation
import Synchronization

/// Mechanisms without a change of threads.
///
/// They show the cost of the call itself.
let callKinds: [PushKind] = [
  PushKind("delegate") { receiver in .calls(Delegating(to: receiver)) },
  PushKind("delegate-nslock") { receiver in .calls(Locking(to: receiver)) },
  mutexKind,
]

/// The published experiment's delegate: a weak reference to a protocol.
protocol EventDelegate: AnyObject, Sendable {
  func didReceive(_ event: Event)
}

extension Receiver: EventDelegate {
  func didReceive(_ event: Event) { receive(event) }
}

/// Only the sending thread uses the weak reference.
private final class Delegating: Sending, @unchecked Sendable {
  private weak var delegate: (any EventDelegate)?

  init(to delegate: any EventDelegate) {
    self.delegate = delegate
  }

  func send(_ event: Event) { delegate?.didReceive(event) }
}

/// The lock is free at every call, which is the usual case of a stream.
private final class Locking: Sending, @unchecked Sendable {
  private let lock = NSLock()
  private weak var delegate: (any EventDelegate)?

  init(to delegate: any EventDelegate) {
    self.delegate = delegate
  }

  func send(_ event: Event) { lock.withLock { delegate?.didReceive(event) } }
}

private let mutexKind: PushKind = {
  if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
    return PushKind("delegate-mutex") { receiver in .calls(MutexLocking(to: receiver)) }
  }
  return .missing("delegate-mutex", "Synchronization.Mutex needs macOS 15, iOS 18 or newer")
}()

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class MutexLocking: Sending {
  private struct Weak: Sendable {
    weak var delegate: (any EventDelegate)?
  }

  private let delegate: Mutex<Weak>

  init(to delegate: any EventDelegate) {
    self.delegate = Mutex(Weak(delegate: delegate))
  }

  func send(_ event: Event) { delegate.withLock { $0.delegate?.didReceive(event) } }
}
