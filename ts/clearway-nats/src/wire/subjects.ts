// SPDX-License-Identifier: MIT OR Apache-2.0

/** The NATS subjects of a module. */
export interface Subjects {
  /** Calls. The workers are one queue group. */
  readonly call: string;
  /** Cancels of calls whose worker the caller does not know. Every worker receives them. */
  readonly cancel: string;
  /** Workers that start and end. Every caller with keys receives them. */
  readonly members: string;
  /** Asks the workers of all versions who they are. */
  readonly who: string;
  /** The queue group of the workers. */
  readonly group: string;
  /** Returns the subject of one worker: calls with keys, and messages about a call that it has. */
  worker(id: string): string;
}

/** Returns the subjects of a module: `clearway.MODULE.VERSION.…`. A dot in the version becomes an underscore. */
export function subjectsOf(module: string, version: string): Subjects {
  const base = `clearway.${module}.${version.replaceAll(".", "_")}`;
  return {
    call: `${base}.call`,
    cancel: `${base}.cancel`,
    members: `${base}.members`,
    who: `clearway.${module}.who`,
    group: "clearway",
    worker: (id) => `${base}.worker.${id}`,
  };
}

/**
 * Returns whether a worker may answer to a subject. A caller chooses it, so it must not be one that a worker or NATS itself reads, which
 * would act on the answer.
 */
export function mayAnswerTo(reply: string | undefined): reply is string {
  return reply !== undefined && reply !== "" && !reply.startsWith("$") && !reply.startsWith("clearway.");
}
