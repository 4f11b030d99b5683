// SPDX-License-Identifier: MIT OR Apache-2.0
// A task module as a user would write it. It has one task of each kind.
import { expose, resource, task, withResources } from "clearway/worker";

let opened = 0;
const counted = withResources({
  ledger: resource({ open: () => ({ number: ++opened, entries: 0 }) }),
});

export default expose({
  add(a: number, b: number): number {
    return a + b;
  },
  /** Returns the caller's buffer with every byte incremented. */
  raise(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] ?? 0) + 1;
    return bytes;
  },
  refuse(what: string): never {
    throw new RangeError(`no ${what} here`, { cause: "a rule" });
  },
  countTo: task(async function* ({ progress }, last: number) {
    progress("counting");
    for (let i = 1; i <= last; i++) yield i;
  }),
  enter: counted(({ ledger }) => `ledger ${ledger.number}, entry ${++ledger.entries}`),
});
