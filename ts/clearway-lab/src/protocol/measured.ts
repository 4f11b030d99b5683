// SPDX-License-Identifier: MIT OR Apache-2.0
// The result that measured code passes to its runner, and its comparison with what the scenario expects. The samples are raw nanoseconds; the
// runner makes histograms of them.
import type { Json, Params, Timeline, Value } from "./message.js";

export interface Measured {
  samples: Record<string, { unit: "us" | "ms"; ns: ArrayLike<number>; batch?: number }>;
  values: Record<string, Value>;
  timeline?: Timeline;
  result: Json;
  notes?: string[];
}

/** The name of the value that reports a shortened warm-up. The value is the warm-up's length in milliseconds. */
export const WARM_UP_CUT = "warmUpCut";

/**
 * The value of a measurement whose threads were not pinned: the share of the time in which the main thread and the busiest other thread had
 * one core, in percent.
 */
export const ON_ONE_CORE = "onOneCore";

/** After this idle time, the server at `idlePort` closes a connection, in milliseconds. */
export const IDLE_CLOSE_MS = 25;

/** The fixtures: the origin of the HTTP server, the port of the TCP echo server, and the path of the file to upload (Node only). */
export interface Fixture {
  httpUrl: string;
  echoPort: number;
  /** A TCP echo server that closes a connection that was idle for `IDLE_CLOSE_MS` after a question. 0 in a page. */
  idlePort: number;
  /** The origin of the HTTP/2 server. Empty in a page, which may only fetch from its own origin. */
  feedUrl: string;
  filePath: string;
}

export interface Work {
  params: Params;
  fixture: Fixture;
}

/** One mechanism of one scenario. It runs the whole measurement once, in a process without earlier measurements. */
export type Mechanism = (work: Work) => Promise<Measured>;

export function numberParam(params: Params, name: string): number {
  const value = params[name];
  if (typeof value !== "number") throw new TypeError(`the parameter must be a number: ${name}=${String(value)}`);
  return value;
}

export function textParam(params: Params, name: string): string {
  const value = params[name];
  if (typeof value !== "string") throw new TypeError(`the parameter must be text: ${name}=${String(value)}`);
  return value;
}

/** Loads the mechanisms of one scenario, by name. A mechanism that cannot run here is replaced by the reason and the remedy. */
export type Loader = () => Promise<Record<string, Mechanism | { unavailable: string }>>;

/** Loads mechanisms. If there is a problem, returns the same names with the problem in place of each mechanism. */
export async function unless(
  problem: string | undefined,
  load: () => Promise<Record<string, Mechanism>>,
): ReturnType<Loader> {
  const mechanisms = await load();
  if (problem === undefined) return mechanisms;
  return Object.fromEntries(Object.keys(mechanisms).map((name) => [name, { unavailable: problem }]));
}

// Compares a mechanism's result with the scenario file. `expected` is a pattern. Objects match if the keys that the pattern names
// match; all other values must be equal. The string "$NAME" stands for the parameter NAME with its type. In a longer string, $NAME
// is replaced by the parameter's text.

/** Returns undefined on a match. Otherwise returns a sentence that names the first difference. */
export function mismatch(expected: Json, actual: Json, params: Params, path = "result"): string | undefined {
  if (typeof expected === "string" && expected.includes("$")) {
    const missing = [...expected.matchAll(/\$(\w+)/g)]
      .map((match) => match[1]!)
      .find((name) => !Object.hasOwn(params, name));
    if (missing !== undefined) {
      return `${path}: the scenario expects the parameter ${missing}, which this cell does not have`;
    }
    const whole = /^\$(\w+)$/.exec(expected);
    const wanted = whole ? params[whole[1]!]! : expected.replace(/\$(\w+)/g, (_, name: string) => String(params[name]));
    return Object.is(wanted, actual)
      ? undefined
      : `${path}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(actual)}`;
  }
  if (expected === null || typeof expected !== "object") {
    return Object.is(expected, actual)
      ? undefined
      : `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
  }
  if (actual === null || typeof actual !== "object" || Array.isArray(actual) !== Array.isArray(expected)) {
    return `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
  }
  const pattern = expected as Record<string, Json>;
  const found = actual as Record<string, Json>;
  for (const key of Object.keys(pattern)) {
    const wrong = mismatch(pattern[key]!, found[key] ?? null, params, `${path}.${key}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
