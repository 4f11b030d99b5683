// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Callback, Remote } from "clearway/callback";
import { expose, move, resource, task, withResources } from "clearway/worker";

/** An object of the caller. */
export interface Logger {
  readonly level: number;
  log(text: string, at?: number): void;
  ask(bytes: Uint8Array): Promise<boolean>;
  toJSON(): string;
}

interface Connection {
  query(text: string): Promise<string[]>;
}

const leased = withResources({
  db: resource<Connection>({ open: async () => ({ query: async (text) => [text] }) }),
  model: resource({ open: () => ({ score: (value: number) => value }) }),
});

/** The tasks that the type tests call. Never run. */
export default expose({
  checksum: (bytes: Uint8Array, seed = 0) => bytes.length + seed,
  join: (first: string, ...rest: string[]) => [first, ...rest].join(),
  scale: task((_context, value: number, by: number) => value * by),
  later: async (value: number): Promise<{ value: number }> => ({ value }),
  fails: (): never => {
    throw new Error();
  },
  nothing: () => {},
  moved: () => move(new Uint8Array(8)),
  union: (value: string | number) => value,
  generic: <T>(value: T): T => value,
  upload: task(async function* ({ signal, progress }, path: string, percent?: number) {
    progress(signal.aborted);
    yield { path, percent: percent ?? 0 };
    return 5;
  }),
  count: function* (to: number) {
    for (let at = 0; at < to; at++) yield at;
    return "end" as const;
  },
  doubles: task(async function* (_context, input: AsyncIterable<Uint8Array>) {
    for await (const each of input) yield each.length;
  }),
  ask: leased(async ({ db, model, signal }, text: string) => {
    signal.throwIfAborted();
    return model.score((await db.query(text)).length);
  }),
  asks: async (count: number, question: Callback<(at: number, bytes: Uint8Array) => boolean>): Promise<boolean> =>
    question(count, new Uint8Array(8)),
  tells: async (tell: Callback<(text: string) => void>, sent = move(new Uint8Array(8))) => {
    const pixels: Callback<(bytes: Uint8Array) => number> = async (bytes) => (bytes as Uint8Array).length;
    await pixels(sent);
    await tell("a");
  },
  logs: async (text: string, logger: Remote<Logger>): Promise<boolean> => {
    await logger.log(text);
    return logger.ask(move(new Uint8Array(8)));
  },
  limited: task({ moveSearchLimit: 5 }, (_context, value: number) => value),
});
