// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The API for the calling thread: pools, calls and streams. Task modules import `clearway/worker`. The meter is in
 * `clearway/meter`.
 *
 * @module clearway
 */

export type { ErrorCode } from "./error/clearway-error.js";
export { ClearwayError } from "./error/clearway-error.js";
export type { ResourceLimits, TextSink, ThreadOptions, WorkerLike } from "./host/host.js";
export type {
  BroadcastError,
  Broadcasters,
  BroadcastFailure,
  BroadcastResult,
} from "./pool/call/broadcast.js";
export type { Advice, TaskAdvice } from "./pool/call/inline.js";
export type { MapOptions, Mapper, Mappers, Results } from "./pool/call/map.js";
export type { CallOptions, PoolOptions, PoolSize, WhenFull, WorkerEvent } from "./pool/options.js";
export { type Callable, type Pool, type PoolCallable, pool, type RunOptions, run } from "./pool/pool.js";
export type { PoolStats, RestartPause, TaskStats } from "./pool/stats.js";
export type { WorkerSource } from "./pool/worker/worker.js";
export type { CallTiming, Summary } from "./stats/timings.js";
export type { Window } from "./stream/credit.js";
export type { CallbackArgument, CallbackFor } from "./task/callback-stub.js";
export type {
  Answer,
  Argument,
  Batches,
  Callers,
  DefaultExportMustComeFromExpose,
  Placement,
  PoolNeedsTheTypeOfItsModule,
  SetupData,
  Stream,
} from "./task/task.js";
export type { Arrived, CannotCross } from "./transfer/arrived.js";
export type { CrossesAs } from "./transfer/crossing.js";
export type { CopyReason } from "./transfer/find-memory.js";
export type { Ledger, LedgerSide } from "./transfer/ledger.js";
export { type Moved, move } from "./transfer/move.js";
