// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Callers } from "clearway";
import { byName, checked } from "clearway/remote";
import { type Clock, systemClock } from "../clock.js";
import { connected, subscribed } from "../options/connect.js";
import {
  callSettingsOf,
  type RemoteCallOptions,
  type RemotePoolOptions,
  type RequestSettings,
  requestSettingsOf,
} from "../options/pool.js";
import { wireCodec } from "../wire/call.js";
import { Op } from "../wire/protocol.js";
import { Caller } from "./caller.js";
import { gatherMs } from "./members.js";

/** The tasks of a remote pool's module, as methods of `call`. */
export interface RemoteCallable<Module> {
  /** The module's tasks, by name. A plain task returns a promise. A generator task returns a stream. */
  readonly call: Callers<Module>;
}

/** Counts of a task's calls by outcome. */
export interface RemoteTaskStats {
  readonly calls: number;
  readonly ok: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** A snapshot of a remote pool's counters. The counters start at the creation of the pool. */
export interface RemotePoolStats {
  /** Number of worker processes that the pool knows. */
  readonly workers: number;
  /** Number of calls without an outcome. */
  readonly open: number;
  readonly tasks: Record<string, RemoteTaskStats>;
  /** Bytes of all messages to the workers and from them. All of them are copied. */
  readonly ledger: { readonly sentBytes: number; readonly receivedBytes: number };
  /** Messages that were dropped. */
  readonly dropped: {
    /** Messages for a call that is not open: answers that came too late, and stray ones. */
    readonly forNobody: number;
    /** Messages that break the protocol and belong to no call. */
    readonly malformed: number;
    /** Messages that were not sent, because too many waited for an interrupted connection. */
    readonly unsent: number;
  };
}

/** A pool whose workers are other processes, reached over NATS in `request` mode: a call runs at most once. */
export interface RemotePool<Module> extends RemoteCallable<Module>, AsyncDisposable {
  /** Returns the same tasks. Calls through the result use these options. Keep the result for calls that share the options. */
  with(options: RemoteCallOptions): RemoteCallable<Module>;
  /** Returns counters. */
  stats(): RemotePoolStats;
  /**
   * Returns advice: which tasks are worth the way to another process, judged by the runs at the workers and by a few round trips. Changes
   * nothing.
   */
  advise(): Promise<RemoteAdvice>;
  /**
   * Closes the pool: accepts no new calls, waits for the open ones, and closes the connection. Calls that take longer than `timeoutMs`
   * (default 30,000) fail with `pool-closed`. The workers go on. `await using` calls `close()`.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<void>;
  /** Fails every call with `pool-terminated`, cancels them at their workers, and closes the connection. */
  terminate(): Promise<void>;
}

/** Makes a pool in `request` mode. Rejects with `invalid-argument` and `connect-failed`. */
export async function requestPool<Module>(
  options: RemotePoolOptions,
  clock: Clock = systemClock,
): Promise<RemotePool<Module>> {
  const settings = requestSettingsOf(options);
  const codec = wireCodec(settings.extensions);
  const made = await connected(settings);
  try {
    return poolOf(
      subscribed(() => new Caller(made, settings, codec, clock)),
      settings,
    );
  } catch (reason) {
    if (made.own) await made.connection.close();
    throw reason;
  }
}

function poolOf<Module>(caller: Caller, settings: RequestSettings): RemotePool<Module> {
  const withOptions = (options: RemoteCallOptions): RemoteCallable<Module> => {
    const callSettings = callSettingsOf(options, settings);
    return {
      call: byName(
        (name) =>
          (...args) =>
            caller.submit(name, args, callSettings),
      ),
    };
  };
  const close = async (options: { timeoutMs?: number | undefined } = {}): Promise<void> => {
    const { timeoutMs } = checked(options, { timeoutMs: 0 });
    await caller.close(timeoutMs);
  };
  return {
    ...withOptions({}),
    with: withOptions,
    stats: () => statsOf(caller),
    advise: () => advise(caller),
    close,
    terminate: () => caller.terminate(),
    [Symbol.asyncDispose]: () => close(),
  };
}

function statsOf(caller: Caller): RemotePoolStats {
  const tasks: Record<string, RemoteTaskStats> = Object.create(null);
  for (const { name, calls, ok, failed, cancelled } of caller.records.values())
    tasks[name] = { calls, ok, failed, cancelled };
  const { link } = caller;
  return {
    workers: caller.members.ids.length,
    open: caller.openCount,
    tasks,
    ledger: { sentBytes: link.sentBytes, receivedBytes: link.receivedBytes },
    dropped: { forNobody: caller.forNobody, malformed: link.malformed, unsent: link.unsent },
  };
}

/** Number of worker processes that are asked, and of round trips that are measured. */
const askedMax = 16;
const trips = 9;

async function advise(caller: Caller): Promise<RemoteAdvice> {
  await caller.members.ready();
  const ids = caller.members.ids.slice(0, askedMax);
  const notes: string[] = [];
  if (ids.length === 0) notes.push(`no worker process has answered within ${gatherMs} ms`);
  const answers = await Promise.all(
    ids.map(async (id): Promise<TaskFacts[]> => {
      try {
        const [, facts] = await caller.ask(id, Op.advise);
        return factsOf(facts);
      } catch {
        notes.push(`the worker process ${id} did not answer`);
        return [];
      }
    }),
  );
  return adviceOf(answers, await roundTripUs(caller, ids[0]), notes);
}

// Measures round trips to a worker process, one after the other. Takes the median, because the machines may do other work.
async function roundTripUs(caller: Caller, id: string | undefined): Promise<number | undefined> {
  if (id === undefined) return undefined;
  const times: number[] = [];
  try {
    for (let trip = 0; trip < trips; trip++) {
      const fromMs = caller.clock.nowMs();
      await caller.ask(id, Op.who);
      times.push((caller.clock.nowMs() - fromMs) * 1000);
    }
  } catch {
    return undefined; // the worker process has ended
  }
  return times.sort((a, b) => a - b)[trips >> 1];
}

/** Number of measured runs that advice needs, as for local pools. */
const samplesNeeded = 16;
/** Share of a call's time that the network may take before a local pool is worth a thought: a third. */
const networkShareMax = 1 / 3;

/** The advice for one task of a remote pool, as plain data. All times are in microseconds. */
export interface RemoteTaskAdvice {
  readonly task: string;
  /** Number of calls at the workers that answered, from all callers. */
  readonly calls: number;
  /** Number of measured runs. */
  readonly samples: number;
  /** Mean time of a run. Undefined without a measurement. */
  readonly runUs: number | undefined;
  /** Time that the way to a worker process and back takes. Undefined without a measurement. */
  readonly networkUs: number | undefined;
  /** Where a single call would be over sooner: in the caller's own process, or in a worker process elsewhere. Undefined without measurements. */
  readonly better: "local" | "remote" | undefined;
  /** The advice as a sentence. */
  readonly advice: string;
}

/** The advice for all tasks of a remote pool, as plain data. */
export interface RemoteAdvice {
  readonly tasks: RemoteTaskAdvice[];
  /** Notes about the whole pool. */
  readonly notes: string[];
  readonly text: string;
}

/** What a worker process says about one task. */
export interface TaskFacts {
  readonly task: string;
  readonly calls: number;
  readonly samples: number;
  readonly runUs: number | undefined;
}

/** Returns the facts in a worker's answer. Leaves out everything that has not their form, because the worker may be hostile. */
export function factsOf(answer: unknown): TaskFacts[] {
  if (!Array.isArray(answer)) return [];
  return answer.slice(0, 10_000).flatMap((each: unknown) => {
    if (!Array.isArray(each)) return [];
    const [task, calls, samples, runUs] = each as unknown[];
    if (typeof task !== "string" || !isCount(calls) || !isCount(samples)) return [];
    return [{ task, calls, samples, runUs: isCount(runUs) ? runUs : undefined }];
  });
}

const isCount = (value: unknown): value is number => typeof value === "number" && value >= 0 && value < 1e15;

/** Returns the advice from the facts of several worker processes and the time of a round trip to one. A pure function. */
export function adviceOf(
  workers: readonly (readonly TaskFacts[])[],
  networkUs: number | undefined,
  notes: string[],
): RemoteAdvice {
  const byTask = new Map<string, TaskFacts[]>();
  for (const facts of workers.flat()) {
    const all = byTask.get(facts.task);
    if (all) all.push(facts);
    else byTask.set(facts.task, [facts]);
  }
  const tasks = [...byTask].map(([task, all]) => taskAdvice(task, all, networkUs));
  return { tasks, notes, text: [...tasks.map(({ advice }) => advice), ...notes].join("\n") };
}

function taskAdvice(task: string, all: readonly TaskFacts[], networkUs: number | undefined): RemoteTaskAdvice {
  const calls = all.reduce((sum, each) => sum + each.calls, 0);
  const measured = all.filter((each) => each.runUs !== undefined && each.samples > 0);
  const samples = measured.reduce((sum, each) => sum + each.samples, 0);
  const runUs = samples > 0 ? measured.reduce((sum, each) => sum + each.runUs! * each.samples, 0) / samples : undefined;
  const say = (better: RemoteTaskAdvice["better"], advice: string): RemoteTaskAdvice => {
    return { task, calls, samples, runUs, networkUs, better, advice: `${task}() ${advice}` };
  };
  if (runUs === undefined || samples < samplesNeeded)
    return say(undefined, `was measured ${samples} times: too little to say`);
  if (networkUs === undefined) return say(undefined, `takes ${shown(runUs)}; the way to its worker was not measured`);
  const cost = `takes ${shown(runUs)}, and the way to a worker process and back ${shown(networkUs)}`;
  if (networkUs > (networkUs + runUs) * networkShareMax)
    return say("local", `${cost}: a pool() in the caller's process would be faster, while its cores are not busy`);
  return say("remote", `${cost}: it is worth the way`);
}

function shown(us: number): string {
  if (us < 10) return `${us.toFixed(1)} us`;
  return us < 1000 ? `${Math.round(us)} us` : `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;
}
