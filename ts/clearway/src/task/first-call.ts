// SPDX-License-Identifier: MIT OR Apache-2.0
import { inProcess, refuseDetached } from "#host";
import { clock } from "../globals.js";
import type { ParentEndpoint } from "../host/host.js";
import { entryOf, isEmpty, onWire } from "../transfer/ledger.js";
import { becomeCopies } from "../transfer/other-process.js";
import { prepareResult } from "../transfer/prepare-result.js";
import { callFlagBits, type HelloSettings, inForm, Op } from "../transport/protocol.js";
import { CallContext } from "./context.js";
import { isGenerator, type TaskDefinition } from "./task.js";

// Number of turns of the microtask queue to wait for an answer. An `async` function that awaits another one takes three turns. All 16 turns
// take a few microseconds.
const turns = 16;

/**
 * Settles when `isPending` returns false, or after some turns of the microtask queue. A result that is nearly ready is thus sent before
 * other work delays it. A call that is still pending after these turns waits for something else.
 */
export async function answeredOrWaiting(isPending: () => boolean): Promise<void> {
  for (let turn = 0; turn < turns && isPending(); turn++) await undefined;
}

/** A call that runs, or has run, before there is a server, and whose outcome is not sent yet. */
export interface EarlyCall {
  readonly id: number;
  readonly definition: TaskDefinition;
  readonly args: unknown[];
  readonly startedMs: number;
  /** The task's return value. */
  value?: unknown;
  /** Whether the task returned a promise that has not settled. */
  pending?: boolean;
  /** The value that the task threw. */
  thrown?: { reason: unknown };
}

/**
 * Returns the task of a call that can run without a server. Such a call has no stream, resources, tables, flags or metrics. Returns
 * undefined for any other call or frame. The frame has the task's name if the caller sent it before it read `Ready`, otherwise the task's
 * index.
 */
export function plainTask(
  frame: readonly unknown[],
  names: readonly string[],
  definitions: readonly TaskDefinition[],
  settings: HelloSettings,
): TaskDefinition | undefined {
  if (frame[0] !== Op.Call || !Array.isArray(frame[3]) || settings.metrics || settings.reportHeap) return undefined;
  const header = frame[2] as string | number;
  // With a flag, the quotient is not an integer, and there is no definition at that index.
  const definition = definitions[typeof header === "string" ? names.indexOf(header) : header / (1 << callFlagBits)];
  if (definition?.kind !== "function" || definition.resources) return undefined;
  return definition;
}

/**
 * Runs a call before there is a server. Loading and compiling the server takes as long as all other work of a worker after its module was
 * loaded. Sends the result and returns undefined. Returns the call if its result is not ready yet. Also returns the call if the server must
 * send its outcome: an error, or a value that cannot be sent to another thread.
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

// Returns the context for a call without flags. Such a call has no progress listener and cannot be cancelled.
function contextOf({ id }: EarlyCall, { cancelCells }: HelloSettings): CallContext {
  return new CallContext({ id, cancelCells, progress: () => {} });
}

/**
 * Sends a call's result and moves the memory in it that can be moved. Returns false, without sending, if the server must send the result.
 */
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
    const ready = prepareResult(value, call.definition.moveSearchLimit);
    const entry = entryOf(ready);
    if (hasProcesses && inProcess) becomeCopies(entry, false);
    const [op, slot] = inForm(Op.Result, ready.form, ready.value);
    const result = [op, call.id, slot, runUs];
    ready.transfer.forEach(refuseDetached);
    endpoint.post(isEmpty(entry) ? result : [Op.Ledger, 0, onWire(entry), 0, ...result], ready.transfer);
    return true;
  } catch {
    // The server tries again and reports the error.
    return false;
  }
}
