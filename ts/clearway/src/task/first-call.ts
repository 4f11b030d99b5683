// SPDX-License-Identifier: MIT OR Apache-2.0
import { clock, refuseDetached } from "#host";
import type { ParentEndpoint } from "../host/host.js";
import { entryOf, isEmpty, onWire } from "../transfer/ledger.js";
import { isTable } from "../transfer/revive.js";
import { makeReady } from "../transfer/search.js";
import { callFlagBits, type HelloSettings, Op } from "../transport/protocol.js";
import { CallContext } from "./context.js";
import { isGenerator, type TaskDefinition } from "./task.js";

// An `async` function that awaits another takes three; some microseconds in all.
const turns = 16;

/**
 * Settles when nothing `isPending` any more, or after some turns of the queue of microtasks: what is pending then waits for
 * something else. An answer that is at hand so goes before what would hold it up for longer than all else.
 */
export async function answeredOrWaiting(isPending: () => boolean): Promise<void> {
  for (let turn = 0; turn < turns && isPending(); turn++) await undefined;
}

/** A call that runs, or has run, without a server, and whose outcome is not sent. */
export interface EarlyCall {
  readonly id: number;
  readonly definition: TaskDefinition;
  readonly args: unknown[];
  readonly startedMs: number;
  /** What the task gave. */
  value?: unknown;
  /** What it gave is a promise, and has not settled. */
  pending?: boolean;
  /** What the task threw. */
  thrown?: { reason: unknown };
}

/**
 * The task of a call that can run without a server: no stream, no resources, no tables, no flags, nobody who counts. Before
 * `Ready` was read the caller names it, afterwards it has its number.
 */
export function plainTask(
  frame: readonly unknown[],
  names: readonly string[],
  definitions: readonly TaskDefinition[],
  settings: HelloSettings,
): TaskDefinition | undefined {
  if (frame[0] !== Op.Call || settings.metrics || settings.reportHeap) return undefined;
  const header = frame[2] as string | number;
  // With a flag it is no whole number.
  const definition = definitions[typeof header === "string" ? names.indexOf(header) : header / (1 << callFlagBits)];
  if (definition?.kind !== "function" || definition.resources) return undefined;
  for (const arg of frame[3] as unknown[]) if (typeof arg === "object" && isTable(arg)) return undefined;
  return definition;
}

/**
 * Runs a call before there is a server, whose reading, making and compiling would take as long as all else that a worker does
 * behind its module's load. Sends its answer and returns undefined; returns the call where the answer is not there yet, or
 * is one that the server has to send: an error, and what no message takes.
 */
export function runEarly(
  frame: readonly unknown[],
  definition: TaskDefinition,
  settings: HelloSettings,
  endpoint: ParentEndpoint,
): EarlyCall | undefined {
  const args = frame[3] as unknown[];
  const call: EarlyCall = { id: frame[1] as number, definition, args, startedMs: clock() };
  try {
    call.value = definition.wantsContext ? definition.run(contextOf(call, settings), ...args) : definition.run(...args);
    if (answer(call, call.value, endpoint)) return undefined;
  } catch (reason) {
    call.thrown = { reason };
  }
  return call;
}

// Nobody listens to its progress and nobody cancels it: either would be a flag.
function contextOf({ id }: EarlyCall, { cancelCells }: HelloSettings): CallContext {
  return new CallContext({ id, cancelCells, progress: () => {} });
}

/** Sends a call's result, with all that can move in it moved; false, having sent nothing, where that is the server's to do. */
export function answer(call: EarlyCall, value: unknown, endpoint: ParentEndpoint): boolean {
  const runUs = Math.round((clock() - call.startedMs) * 1000);
  const type = typeof value;
  if (value !== null && (type === "object" || type === "function" || type === "symbol")) {
    return type === "object" && answerObject(call, value as object, runUs, endpoint);
  }
  endpoint.post([Op.Result, call.id, value, runUs], []);
  return true;
}

function answerObject(call: EarlyCall, value: object, runUs: number, endpoint: ParentEndpoint): boolean {
  try {
    if ("then" in value || isGenerator(value)) return false;
    const ready = makeReady(value, call.definition.moveSearchLimit);
    const entry = entryOf(ready);
    const result = [Op.Result, call.id, ready.value, runUs];
    ready.transfer.forEach(refuseDetached);
    endpoint.post(isEmpty(entry) ? result : [Op.Ledger, 0, onWire(entry), 0, ...result], ready.transfer);
    return true;
  } catch {
    // The server tries again, and says what is wrong with it.
    return false;
  }
}
