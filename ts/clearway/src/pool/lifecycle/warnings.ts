// SPDX-License-Identifier: MIT OR Apache-2.0
import { warn } from "#host";

/** What a pool has noticed about its use. */
export type Finding =
  | { readonly kind: "result" | "arguments"; readonly task: string; readonly ms: number }
  | { readonly kind: "queue"; readonly task: string; readonly items: number }
  | { readonly kind: "copied"; readonly task: string; readonly bytes: number }
  | { readonly kind: "deadlock"; readonly task: string; readonly asking: string };

const codes = {
  result: "CLEARWAY_SLOW_COPY",
  arguments: "CLEARWAY_SLOW_COPY",
  queue: "CLEARWAY_QUEUE_GROWS",
  copied: "CLEARWAY_ARGUMENT_COPIED",
  deadlock: "CLEARWAY_DEADLOCK",
} as const;

/** Prints a warning: the task, the figure and what to do. */
export function printWarning(pool: string, finding: Finding): void {
  const silence = `The pool "${pool}" says this once; its option { warnings: false } turns it off`;
  warn(`${textOf(finding)} ${silence}. See docs/guide.md#warnings of Clearway.`, codes[finding.kind]);
}

function textOf(finding: Finding): string {
  const { task } = finding;
  switch (finding.kind) {
    case "result":
      return (
        `The result of ${task}() took ${Math.round(finding.ms)} ms to copy in the worker, and about as long here again. Return a table of ` +
        "records, a typed array, or a stream (docs/records.md)."
      );
    case "arguments":
      return (
        `The arguments of ${task}() took ${Math.round(finding.ms)} ms to copy on this thread. Pass a table of records, a typed array under ` +
        "move(), or a stream (docs/records.md)."
      );
    case "queue":
      return (
        `The queue grows without a pause: ${finding.items} calls wait, most of them of ${task}(). Calls come faster than the workers ` +
        "run them. Await pool.room() before each call, use pool.map, or set queue.whenFull or a larger size."
      );
    case "copied":
      return (
        `An argument of ${task}() was copied: ${(finding.bytes / 2 ** 20).toFixed(1)} MiB of binary memory. If the caller does not need ` +
        `it any more, move it: ${task}(move(value)).`
      );
    case "deadlock":
      return (
        `A call of ${task}() has waited for a second for a worker that waits for a callback of ${finding.asking}(). If that callback awaits ` +
        "this call, both wait for ever. Give the pool a larger size, or a concurrency of at least 2."
      );
  }
}
