// SPDX-License-Identifier: MIT OR Apache-2.0
import fc from "../../fixtures/fast-check.js";

// A plan is plain data, so that fast-check can shrink it, and a failing plan can be pasted into a test.

/** Options of a call. `signal` is the index of an abort controller, which several calls may share. */
export interface PlanOptions {
  signal?: number;
  timeoutMs?: number;
  deadlineMs?: number;
  key?: string | number;
  priority?: number;
  retries?: number;
  strict?: boolean;
  windowItems?: number;
  progress?: "listen" | "throw";
  placement?: "inline";
}

export const functionTasks = [
  "ok",
  "later",
  "bytes",
  "part",
  "lengthOf",
  "lengthOfMoved",
  "swallow",
  "badArgument",
  "throws",
  "rejects",
  "throwsValue",
  "badResult",
  "hostileThenable",
  "reports",
  "replaces",
  "unknown",
] as const;
export const stoppedTasks = ["hold", "deaf", "spin", "hotLoop"] as const;
export const endingTasks = ["exit", "exitLater", "crashLater", "rejectLater"] as const;
export const streamTasks = [
  "numbers",
  "syncNumbers",
  "throwsAfter",
  "badAfter",
  "stallsAfter",
  "finallyThrows",
  "finallyStalls",
] as const;
export const readings = ["fully", "slowly", "twice", "break", "leave", "never", "return", "throw", "overlap"] as const;
export const sources = ["finite", "throws", "bad", "badEnd", "moved", "stuck", "endless"] as const;
/** Tasks that may run on the caller's thread: none blocks or ends it. */
export const placedTasks = ["ok", "later", "unknown"] as const;
export const manyTasks = ["ok", "later", "throws", "unknown"] as const;
export const mapReadings = ["await", "fully", "slowly", "break", "leave", "never", "return"] as const;
export const callbackDeeds = ["answers", "answersLater", "throws", "rejects", "lies", "hangs"] as const;
export const twoWayTasks = ["doubles", "echoes", "countOf", "firstOf", "ignores"] as const;

export type FunctionTask =
  | (typeof functionTasks)[number]
  | (typeof stoppedTasks)[number]
  | (typeof endingTasks)[number]
  | "native"
  | "memory";

export type Command =
  | { do: "call"; task: FunctionTask; n: number; options: PlanOptions; misuse?: "return" | "iterate" }
  | {
      do: "stream";
      task: (typeof streamTasks)[number] | "exitsAfter";
      n: number;
      length: number;
      read: (typeof readings)[number];
      after: number;
      options: PlanOptions;
    }
  | {
      do: "twoWay";
      task: (typeof twoWayTasks)[number];
      source: (typeof sources)[number];
      n: number;
      read: (typeof readings)[number];
      after: number;
      options: PlanOptions;
    }
  | {
      do: "map";
      task: (typeof manyTasks)[number];
      n: number;
      count: number;
      read: (typeof mapReadings)[number];
      after: number;
      ordered: boolean;
      concurrency: number;
      options: PlanOptions;
    }
  | { do: "broadcast"; task: (typeof manyTasks)[number]; n: number; options: PlanOptions }
  | {
      do: "callback";
      task: "asks";
      n: number;
      /** What the callback does at each of its calls. After the last one, it answers. */
      deeds: (typeof callbackDeeds)[number][];
      concurrency: number;
      options: PlanOptions;
    }
  | { do: "abort"; signal: number }
  | { do: "pause"; how: "microtask" | "turn" | "ms" | "ready" }
  | { do: "ping" | "room" | "advise" | "terminate" }
  | { do: "close"; timeoutMs: number };

export interface Plan {
  size: { min: number; max: number };
  concurrency: number;
  queueItems: number;
  whenFull: "wait" | "fail" | "dropOldest" | "dropNewest";
  metrics: boolean;
  recycleTasks: number;
  /** Waits for a worker before the first command. */
  warm: boolean;
  commands: Command[];
  /** `drain`: everything settles by itself first. */
  ending: "drain" | "close" | "terminate";
}

/** The time limits in plans, in milliseconds. They are short, because the test waits for each. */
const limitsMs = [1, 10, 25];

const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const options: fc.Arbitrary<PlanOptions> = fc
  .record({
    signal: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(2) }),
    timeoutMs: seldom(fc.constantFrom(...limitsMs)),
    deadlineMs: seldom(fc.constantFrom(...limitsMs)),
    key: seldom(fc.constantFrom<string | number>("a", "b", 7)),
    priority: seldom(fc.constantFrom(-1, 1)),
    retries: seldom(fc.constantFrom(1, 2)),
    strict: seldom(fc.constant(true)),
    windowItems: seldom(fc.constantFrom(1, 2, 3)),
    progress: seldom(fc.constantFrom<"listen" | "throw">("listen", "throw")),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));

const n = fc.nat(9);

const call = (tasks: readonly FunctionTask[]): fc.Arbitrary<Command> =>
  fc
    .record(
      {
        do: fc.constant("call" as const),
        task: fc.constantFrom(...tasks),
        n,
        options,
        misuse: fc.constantFrom<"return" | "iterate">("return", "iterate"),
      },
      { requiredKeys: ["do", "task", "n", "options"] },
    )
    .map((made) => {
      // Keeps only some of the misuses: one in two calls would be too many.
      if (made.misuse !== undefined && made.n > 2) delete made.misuse;
      return made;
    });

const stream = (tasks: readonly Extract<Command, { do: "stream" }>["task"][]): fc.Arbitrary<Command> =>
  fc.record({
    do: fc.constant("stream" as const),
    task: fc.constantFrom(...tasks),
    n: fc.constantFrom(0, 1, 3, 8, 40),
    length: fc.constantFrom(0, 0, 1000, 300_000),
    read: fc.constantFrom(...readings),
    after: fc.nat(4),
    options,
  });

const twoWay: fc.Arbitrary<Command> = fc.record({
  do: fc.constant("twoWay" as const),
  task: fc.constantFrom(...twoWayTasks),
  source: fc.constantFrom(...sources),
  n: fc.constantFrom(0, 1, 3, 20),
  read: fc.constantFrom(...readings),
  after: fc.nat(4),
  options,
});

const placed: fc.Arbitrary<Command> = call(placedTasks).map(
  (made) => ({ ...made, options: { ...(made as { options: object }).options, placement: "inline" } }) as Command,
);

/** Options of calls whose results are neither streams nor progress. */
const plainOptions = options.map(({ windowItems: _w, progress: _p, strict: _s, ...plain }): PlanOptions => plain);

const map: fc.Arbitrary<Command> = fc.record({
  do: fc.constant("map" as const),
  task: fc.constantFrom(...manyTasks),
  n,
  count: fc.constantFrom(0, 1, 4, 12),
  read: fc.constantFrom(...mapReadings),
  after: fc.nat(4),
  ordered: fc.boolean(),
  concurrency: fc.constantFrom(1, 3),
  options: plainOptions,
});

const broadcast: fc.Arbitrary<Command> = fc.record({
  do: fc.constant("broadcast" as const),
  task: fc.constantFrom(...manyTasks),
  n,
  options: plainOptions,
});

const callback: fc.Arbitrary<Command> = fc.record({
  do: fc.constant("callback" as const),
  task: fc.constant("asks" as const),
  n: fc.constantFrom(0, 1, 5),
  deeds: fc.array(fc.constantFrom(...callbackDeeds), { maxLength: 3 }),
  concurrency: fc.constantFrom(1, 2, 64),
  options: plainOptions,
});

const pause: fc.Arbitrary<Command> = fc.record({
  do: fc.constant("pause" as const),
  how: fc.constantFrom<"microtask" | "turn" | "ms" | "ready">("microtask", "turn", "ms", "ready"),
});

const command: fc.Arbitrary<Command> = fc
  .oneof(
    { weight: 120, arbitrary: call(functionTasks) },
    { weight: 30, arbitrary: call(stoppedTasks) },
    { weight: 20, arbitrary: call(endingTasks) },
    { weight: 6, arbitrary: call(["native"]) },
    { weight: 80, arbitrary: stream(streamTasks) },
    { weight: 10, arbitrary: stream(["exitsAfter"]) },
    { weight: 50, arbitrary: twoWay },
    { weight: 20, arbitrary: placed },
    { weight: 25, arbitrary: map },
    { weight: 12, arbitrary: broadcast },
    { weight: 25, arbitrary: callback },
    { weight: 30, arbitrary: fc.record({ do: fc.constant("abort" as const), signal: fc.nat(2) }) },
    { weight: 60, arbitrary: pause },
    { weight: 10, arbitrary: fc.record({ do: fc.constantFrom<"ping" | "room" | "advise">("ping", "room", "advise") }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("terminate" as const) }) },
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant("close" as const), timeoutMs: fc.constantFrom(0, 20) }),
    },
  )
  .map((each) => each as Command);

/** Generates plans: a pool of up to 3 workers, and up to `most` commands for it. */
export const plans = (most: number): fc.Arbitrary<Plan> =>
  fc.record({
    size: fc.constantFrom({ min: 1, max: 1 }, { min: 2, max: 2 }, { min: 0, max: 2 }, { min: 1, max: 3 }),
    concurrency: fc.constantFrom(1, 1, 2, 3),
    queueItems: fc.constantFrom(1, 3, 16_384),
    whenFull: fc.constantFrom<Plan["whenFull"]>("wait", "fail", "dropOldest", "dropNewest"),
    metrics: fc.boolean(),
    recycleTasks: fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 2),
    warm: fc.boolean(),
    commands: fc.array(command, { maxLength: most, size: "max" }),
    ending: fc.constantFrom<Plan["ending"]>("drain", "drain", "drain", "close", "terminate"),
  });

const small = {
  size: { min: 1, max: 1 },
  queueItems: 16_384,
  whenFull: "wait",
  metrics: false,
  recycleTasks: Number.MAX_SAFE_INTEGER,
  warm: false,
  ending: "drain",
} as const;

/** Plans that failed once, as shrunk by fast-check. They are played first. */
export const failedOnce: readonly Plan[] = [
  // A keyed call waited behind an unread stream, and nothing ran the scheduler again.
  {
    ...small,
    concurrency: 1,
    commands: [
      {
        do: "twoWay",
        task: "ignores",
        source: "moved",
        n: 20,
        read: "throw",
        after: 3,
        options: { key: "b", priority: -1 },
      },
      { do: "stream", task: "exitsAfter", n: 40, length: 1000, read: "never", after: 0, options: {} },
    ],
  },
  // A result that could not be cloned, in the tick in which its worker exited, was lost, and its call ran again.
  {
    ...small,
    concurrency: 2,
    commands: [
      { do: "call", task: "badResult", n: 5, options: { signal: 0 } },
      { do: "call", task: "exit", n: 0, options: {} },
    ],
  },
  // A browser's worker that had closed itself started a call that another worker had then received.
  {
    ...small,
    concurrency: 3,
    commands: [
      { do: "call", task: "exit", n: 0, options: {} },
      { do: "call", task: "exit", n: 1, options: { signal: 0 } },
    ],
  },
];
