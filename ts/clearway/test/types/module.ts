// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Callback, Remote } from "clearway/callback";
import type { CrossesAs, crossesAs } from "clearway/transfer";
import { expose, move, resource, type TaskContext, task, withResources } from "clearway/worker";

/** An object of the caller. */
export interface Logger {
  readonly level: number;
  log(text: string, at?: number): void;
  ask(bytes: Uint8Array): Promise<boolean>;
  toJSON(): string;
}

/** An instance arrives as its data. */
export class Price {
  constructor(
    readonly amount: number,
    readonly paid?: Date,
  ) {}
  get cents(): number {
    return this.amount * 100;
  }
  plus(other: Price): Price {
    return new Price(this.amount + other.amount);
  }
}

/** A class with a transfer handler arrives as it was. */
export class Money implements CrossesAs<Money> {
  declare readonly [crossesAs]: Money;
  constructor(readonly amount: number) {}
  double(): Money {
    return new Money(this.amount * 2);
  }
}

/** Data of every kind that contains itself. */
export interface Node {
  readonly value: number | null;
  next?: Node;
  children: readonly Node[];
  byName: Map<string, Node[]>;
  pair: [Node, Set<Date>?];
  bytes: Uint8Array<ArrayBuffer>;
}
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

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
  steps: task(({ progress }: TaskContext<{ done: number; raw: Buffer }>, count: number): number => {
    progress({ done: count, raw: Buffer.alloc(8) });
    // @ts-expect-error: another type
    progress("half");
    return count;
  }),
  buffer: (size: number): Buffer => Buffer.alloc(size),
  takesBuffer: (bytes: Buffer): number => bytes.readUInt8(0),
  price: (amount: number): Price => new Price(amount),
  prices: function* (): Generator<{ all: Price[]; raw: Buffer }> {},
  takesPrice: (price: Price): number => price.plus(price).amount,
  takesData: (price: { amount: number }): number => price.amount,
  takesPrices: async (_prices: AsyncIterable<Price>): Promise<void> => {},
  money: (money: Money): Money => money.double(),
  data: (node: Node): Node => node,
  json: (json: Json): Json => json,
  // biome-ignore lint/suspicious/noExplicitAny: tests it
  anything: (value: any, _other: unknown): any => value,
  maker: () => (at: number) => at,
  takesFunction: (make: () => number): number => make(),
  takesOptions: (options: { size: number; onDone?: () => void }): number => options.size,
  mark: (): symbol => Symbol(),
  later2: (): { value: Promise<number> } => ({ value: Promise.resolve(1) }),
  report: async (
    tell: Callback<(bytes: Uint8Array, price: { amount: number }) => Buffer>,
    wrong: Callback<(price: Price) => void>,
  ): Promise<Uint8Array> => {
    // @ts-expect-error: an instance arrives without its methods
    await wrong(new Price(5));
    return tell(Buffer.alloc(8), new Price(5));
  },
  limited: task({ moveSearchLimit: 5 }, (_context, value: number) => value),
});
