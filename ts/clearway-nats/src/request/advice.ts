// SPDX-License-Identifier: MIT OR Apache-2.0

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
