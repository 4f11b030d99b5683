// SPDX-License-Identifier: MIT OR Apache-2.0
import { structuredClone } from "../../globals.js";
import { Form } from "../../transfer/coded.js";
import { findMemory, searchLimit, sharedCopies } from "../../transfer/find-memory.js";
import { emptySide } from "../../transfer/ledger.js";
import { MovedValue } from "../../transfer/move.js";
import { prepareForProcess } from "../../transfer/other-process.js";
import { prepareValue } from "../../transfer/prepare-argument.js";
import type { PoolCall } from "./call.js";
import { Input } from "./input.js";
import { openSource } from "./source.js";

/**
 * Prepares the arguments of a call: unwraps values from `move()`, opens streams, and counts what will be moved and copied. Moves nothing
 * yet. Copies the list of arguments before changing it. Throws `would-copy` under `strict`.
 */
export function prepareArguments(call: PoolCall): void {
  const { args } = call;
  const shared = sharedCopies(args);
  for (let at = 0; at < args.length; at++) {
    const value = args[at];
    if (value === null || typeof value !== "object") continue;
    if (call.args === args) call.args = args.slice();
    if (!(value instanceof MovedValue) && Symbol.asyncIterator in value) {
      call.inputs ??= [];
      const { iterator, close } = openSource(value as AsyncIterable<unknown, unknown, void>);
      call.inputs.push(new Input(at, iterator, close));
      call.args[at] = undefined;
    } else {
      call.crossing ??= emptySide();
      const prepare = hasProcesses && call.options.toProcess ? prepareForProcess : prepareValue;
      const ready = prepare(value, call.options.strict, call.crossing, shared);
      call.args[at] = ready.value;
      if (ready.form !== Form.plain) {
        call.forms ??= new Array(args.length).fill(Form.plain);
        call.forms[at] = ready.form;
      }
      call.bytes += ready.bytes;
      if (ready.deep) call.deep = true;
      if (ready.transfer.length > 0) call.transfer = call.transfer.concat(ready.transfer);
    }
  }
}

/**
 * Takes moved memory away from its owner now, for a call that has to wait. `move` promises that the caller loses the memory at the call,
 * not later.
 *
 * Moves that memory into new objects of this thread, and copies all other memory in the arguments. The copy has no other owner, so it is
 * moved when the call is sent. In total there is one copy, as the ledger says.
 */
export function detach(call: PoolCall): void {
  if (call.transfer.length === 0) return;
  const { args, transfer } = structuredClone(
    { args: call.args, transfer: call.transfer },
    { transfer: call.transfer as Transferable[] },
  );
  const { value, transfer: own, compacted } = findMemory(args, searchLimit);
  call.args = value as unknown[];
  call.transfer = [...new Set([...transfer, ...own, ...compacted])];
}
