// SPDX-License-Identifier: MIT OR Apache-2.0
// The actions of a batch. Each action takes one small argument and returns a number. These numbers check the batch. Every language that
// measures the scenarios `offload` has the same actions (docs/lab/method.md).

/** The environment variable with the time that `network` waits per unit of its seed, in microseconds. Workers inherit it. */
export const NETWORK_VARIABLE = "CLEARWAY_LAB_NETWORK_US";

const networkUs = (): number => Number(process.env[NETWORK_VARIABLE] ?? 1000);
const storageUs = (seed: number): number => 500 + 10 * seed;
const BIMODAL_US = 5000;

const neverNotified = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread, as a file read or a query of a blocking driver does. */
function blockFor(us: number): void {
  if (us > 0) Atomics.wait(neverNotified, 0, 0, us / 1000);
}

/** Waits without blocking the thread. Timers count whole milliseconds and round down, so the time is rounded up first. */
function delay(us: number): Promise<void> {
  return new Promise((done) => setTimeout(done, Math.ceil(us / 1000)));
}

const arithmetic = (seed: number): number => seed ** seed;

/** Passes a list of `seed` items through common collection methods. Returns the number of remaining items. */
function lists(seed: number): number {
  const floats = Array.from({ length: seed }, (_, at) => at).map((item) => item * 1.0);
  const byName = new Map(floats.map((item) => item + 0.3).map((item) => [String(item), item]));
  return [...byName.values()].map((item) => item * item).filter((item) => item > 5).length;
}

function storage(seed: number): number {
  blockFor(storageUs(seed));
  return seed;
}

async function storageAsync(seed: number): Promise<number> {
  await delay(storageUs(seed));
  return seed;
}

function network(seed: number): number {
  blockFor(seed * networkUs());
  return seed;
}

async function networkAsync(seed: number): Promise<number> {
  await delay(seed * networkUs());
  return seed;
}

function mixed(seed: number): number {
  if (seed % 5 === 0) return network(seed);
  if (seed % 3 === 0) return storage(seed);
  return seed % 2 === 0 ? lists(seed) : arithmetic(seed);
}

async function mixedAsync(seed: number): Promise<number> {
  if (seed % 5 === 0) return networkAsync(seed);
  if (seed % 3 === 0) return storageAsync(seed);
  return seed % 2 === 0 ? lists(seed) : arithmetic(seed);
}

/** Computes in nine of ten calls and waits in the tenth. The mean describes neither kind of call. */
function bimodal(seed: number): number {
  if (seed % 10 !== 0) return arithmetic(seed);
  blockFor(BIMODAL_US);
  return seed;
}

async function bimodalAsync(seed: number): Promise<number> {
  if (seed % 10 !== 0) return arithmetic(seed);
  await delay(BIMODAL_US);
  return seed;
}

/** Runs `steps` steps of xorshift32, which no compiler can remove or shorten. Returns 1. */
function spin(steps: number): number {
  let state = 0x9e3779b9 | 0;
  for (let step = 0; step < steps; step++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  // The state is never 0, because xorshift cannot reach 0 from another state.
  return state === 0 ? 0 : 1;
}

/** Computes for an argument like `a17`. Waits as `storage` does for `s17`. Both arguments have the same type and size. */
function changing(argument: string): number {
  const seed = Number(argument.slice(1));
  return argument.startsWith("s") ? storage(seed) : arithmetic(seed);
}

export const actions = {
  arithmetic,
  lists,
  storage,
  storageAsync,
  network,
  networkAsync,
  mixed,
  mixedAsync,
  bimodal,
  bimodalAsync,
  spin,
  changing,
};

export type ActionName = keyof typeof actions;
export type Argument = number | string;

/** Returns an action by its name. The caller must pass an argument of the action's type. */
export function actionOf(name: ActionName): (argument: Argument) => number | Promise<number> {
  return actions[name] as (argument: unknown) => number | Promise<number>;
}

/** Returns the check of a batch: the number of results and their sum. Each result counts at most 1000 (powers reach 1e197). */
export function checkOf(results: readonly number[]): { done: number; checksum: number } {
  return { done: results.length, checksum: results.reduce((sum, result) => sum + Math.min(result, 1000), 0) };
}
