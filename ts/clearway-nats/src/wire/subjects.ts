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
 * Maximum length of a subject that a peer names. NATS closes the connection of a client that sends a line of more than 4,096 bytes, which has
 * two subjects.
 */
const subjectCharactersMax = 1_024;

/**
 * Returns whether a worker may answer to a subject. A caller chooses it, so it must not be one that a worker or NATS itself reads, which
 * would act on the answer.
 */
export function mayAnswerTo(reply: string | undefined): reply is string {
  if (reply === undefined || reply === "" || reply.length > subjectCharactersMax) return false;
  return !reply.startsWith("$") && !reply.startsWith("clearway.");
}

const workerIdForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Returns whether a value can be the id of a worker process. */
export function isWorkerId(id: unknown): id is string {
  return typeof id === "string" && workerIdForm.test(id);
}
