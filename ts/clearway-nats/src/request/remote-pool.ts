// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Callers } from "clearway";
import { byName, checked } from "clearway/remote";
import { connected, subscribed } from "../options/connect.js";
import {
  callSettingsOf,
  type RemoteCallOptions,
  type RemotePoolOptions,
  type RequestSettings,
  requestSettingsOf,
} from "../options/pool.js";
import { wireCodec } from "../wire/call.js";
import { Op } from "../wire/op.js";
import { adviceOf, factsOf, type RemoteAdvice, type TaskFacts } from "./advice.js";
import { Caller } from "./caller.js";
import { type Clock, systemClock } from "./clock.js";
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
  close(options?: { timeoutMs?: number }): Promise<void>;
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
  const close = async (options: { timeoutMs?: number } = {}): Promise<void> => {
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
  return adviceOf(answers, await networkUs(caller, ids[0]), notes);
}

// Measures round trips to a worker process, one after the other. Takes the median, because the machines may do other work.
async function networkUs(caller: Caller, id: string | undefined): Promise<number | undefined> {
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
