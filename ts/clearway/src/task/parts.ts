// SPDX-License-Identifier: MIT OR Apache-2.0
import { Part } from "./part.js";
import type { TaskDefinition } from "./task.js";

// What the first call of most modules can do without (spec/decisions/what-a-call-can-do-without-loads-later.md).

/** Tasks that yield, and streams from callers. */
export const streams = new Part("what makes and reads streams", async () => import("./streams.js"));

/** Resources. */
export const leases = new Part("what opens resources", async () => import("../resource/leases.js"));

/** Errors as they cross. Asked for behind the first call, so that a failure later does not depend on the network. */
export const errors = new Part("what takes errors apart", async () => import("../error/wire.js"));

/** The worker's end of the ring. Asked for behind the first call, where there is shared memory. */
export const ring = new Part("the ring", async () => import("./ring-end.js"));

/** Asks for the parts that these tasks will need. */
export function expectParts(tasks: readonly TaskDefinition[]): void {
  if (tasks.some(({ kind }) => kind === "stream")) streams.expect();
  if (tasks.some(({ resources }) => resources !== undefined)) leases.expect();
}
