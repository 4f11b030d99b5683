// SPDX-License-Identifier: MIT OR Apache-2.0
// The tasks of the recipes.
import { setTimeout as wait } from "node:timers/promises";
import type { Callback, Remote } from "clearway/callback";
import { expose, type TaskContext, task } from "clearway/worker";

const words = ["apple", "apricot", "banana", "blackberry", "cherry"];
let rate = 1;
const balances = new Map<string, number>();

/** What a task needs of its caller's store. */
interface Store {
  read(key: string): string | undefined;
  write(key: string, text: string): void;
}

export default expose({
  // #region move-task
  brighten(pixels: Uint8Array) {
    for (let at = 0; at < pixels.length; at++) pixels[at] = Math.min(255, (pixels[at] ?? 0) + 10);
    return pixels; // the buffer moves to the caller
  },
  // #endregion move-task

  // #region cancellable
  search: task(async ({ signal }, text: string) => {
    const found: string[] = [];
    for (const word of words) {
      await wait(5, undefined, { signal }); // rejects as soon as the caller cancels
      if (word.startsWith(text)) found.push(word);
    }
    return found;
  }),

  // A loop that never awaits must read a flag.
  spin: task((context) => {
    let turns = 0;
    while (!context.cancelled) turns++; // `cancelled` is a getter: read it again each time
    return turns;
  }),
  // #endregion cancellable

  // #region progress-task
  importRows: task(async ({ progress }: TaskContext<number>, rows: number) => {
    for (let row = 0; row <= rows; row += rows / 4) progress(row / rows);
    return rows;
  }),
  // #endregion progress-task

  // #region callback-task
  async copyFiles(files: string[], mayWrite: Callback<(file: string) => boolean>) {
    const copied: string[] = [];
    for (const file of files) {
      if (await mayWrite(file)) copied.push(file); // waits for the answer of the caller
    }
    return copied;
  },
  // #endregion callback-task

  // #region proxy-task
  async translate(words: string[], store: Remote<Store>) {
    for (const word of words) {
      if ((await store.read(word)) === undefined) await store.write(word, word.toUpperCase()); // the caller's methods
    }
    return words.length;
  },
  // #endregion proxy-task

  // #region context-task
  label: (request: string, text: string) => `${request}: ${text}`, // the context did not cross, but the argument did
  // #endregion context-task

  // #region stream-task
  async *lines(count: number) {
    for (let line = 1; line <= count; line++) yield `line ${line}`; // waits while the reader is behind
  },

  async total(numbers: AsyncIterable<number>) {
    let sum = 0;
    for await (const number of numbers) sum += number; // requests the next value from the caller when the loop is ready for it
    return sum;
  },
  // #endregion stream-task

  *articles(count: number) {
    for (let article = 1; article <= count; article++) yield `${article} ${words.join(" ").repeat(50)}`;
  },

  // #region key-task
  async deposit(account: string, amount: number) {
    const before = balances.get(account) ?? 0;
    await wait(1); // without a key, another deposit could run during this wait
    balances.set(account, before + amount);
    return before + amount;
  },
  // #endregion key-task

  // #region broadcast-task
  setRate(next: number) {
    if (next <= 0) throw new RangeError("the rate must be over 0");
    rate = next; // each worker has its own `rate`
    return `rate ${rate}`;
  },
  // #endregion broadcast-task

  // #region error-task
  parse(text: string) {
    if (!text.startsWith("{")) throw Object.assign(new SyntaxError("expected an object"), { code: "bad-input", at: 0 });
    return JSON.parse(text) as unknown;
  },
  // #endregion error-task

  die() {
    process.exit(1);
  },

  // #region crash-task
  crash() {
    process.kill(process.pid, "SIGSEGV"); // what the system does to code that touches memory that is not its own
    return new Promise<never>(() => {});
  },
  // #endregion crash-task
});
