// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../error/clearway-error.js";
import type { LedgerSide } from "../transfer/ledger.js";
import type { TaskKind } from "../transport/protocol.js";
import type { CallDesk } from "./call-desk.js";
import type { Metrics } from "./metrics.js";
import type { Settings } from "./options.js";
import type { Pings } from "./pings.js";
import type { Slot } from "./slot.js";

/** What a slot tells its pool. */
export interface SlotOwner {
  readonly settings: Settings;
  readonly toWorkers: LedgerSide;
  readonly fromWorkers: LedgerSide;
  readonly desk: CallDesk;
  readonly pings: Pings;
  readonly metrics: Metrics | undefined;
  nextId(): number;
  workerReady(slot: Slot, tasks: [string, TaskKind][]): void;
  /** A worker could not even be made: the factory threw. */
  startFailed(place: number, reason: unknown): void;
  /** A worker has fewer calls, or is less busy. */
  eased(slot: Slot): void;
  /** The worker is gone. `killed`: by us. `begun`: which calls had begun, where it could still say so. */
  exited(slot: Slot, why: ClearwayError, killed: boolean, begun: ReadonlySet<number> | undefined): void;
}
