// SPDX-License-Identifier: MIT OR Apache-2.0
import { clock } from "#host";
import type { ParentEndpoint } from "../host/host.js";
import { isTable } from "../transfer/revive.js";
import { type HelloSettings, Op } from "../transport/protocol.js";
import { ServedCall } from "./served-call.js";
import type { TaskDefinition } from "./task.js";

/** A call that was sent before its worker was ready: by name, without flags. */
export type CallFrame = [op: Op.Call, id: number, name: string | number, args: unknown[]];

/**
 * Runs a worker's first call before there is a server, whose making, and the compiling of what it consists of, would take as
 * long as all else that a worker does behind its module's load. Only a call that wants nothing of it: a plain function of
 * plain arguments, and nobody who counts.
 *
 * Returns true when it was answered, with a value that any message takes; the call as it stands when its outcome is the
 * server's to send; undefined, having run nothing, when it is the server's altogether.
 */
export function runFirst(
  [, id, , args]: CallFrame,
  definition: TaskDefinition | undefined,
  { metrics, reportHeap }: HelloSettings,
  endpoint: ParentEndpoint,
): ServedCall | true | undefined {
  if (definition?.kind !== "function" || definition.wantsContext || metrics || reportHeap || args.some(isTable)) return;
  const startedMs = clock();
  let outcome: () => unknown;
  try {
    const value = definition.run(...args);
    const type = typeof value;
    if (value === null || (type !== "object" && type !== "function" && type !== "symbol")) {
      endpoint.post([Op.Result, id, value, Math.round((clock() - startedMs) * 1000)], []);
      return true;
    }
    outcome = () => value;
  } catch (reason) {
    outcome = () => {
      throw reason;
    };
  }
  const call = new ServedCall(id, { ...definition, run: outcome }, 0, args);
  call.startedMs = startedMs;
  return call;
}
