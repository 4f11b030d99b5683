// SPDX-License-Identifier: MIT OR Apache-2.0
// Every arm by its name. Modules are loaded on demand, so that an arm has not loaded the libraries of another.
import { hostName } from "#lab-host";
import { nodeArms } from "#lab-node-arms";
import type { OpenArm, OpenMechanism } from "./work.js";

const arms: Record<string, () => Promise<OpenArm>> = {
  "students-clone": async () => (await import("./works/students.js")).cloned,
  "students-records": async () => (await import("./works/students.js")).records,
  "students-sliced": async () => (await import("./works/students.js")).sliced,
  "students-parts": async () => (await import("./works/students.js")).parts,
  "pool-clearway": async () => (await import("./works/pool.js")).clearway,
  "pool-bare": async () => (await import("./works/pool.js")).bare,
  "pool-comlink": async () => (await import("./works/pool.js")).comlink,
  "push-clearway": async () => (await import("./works/push.js")).clearway,
  "push-bare": async () => (await import("./works/push.js")).bare,
  ...nodeArms,
};

/** Opens an arm. Rejects with a RangeError that lists the names if this host has no such arm. */
export async function openArm(name: string): Promise<OpenMechanism> {
  const load = Object.hasOwn(arms, name) ? arms[name] : undefined;
  if (load === undefined)
    throw new RangeError(`no such arm on host ${hostName}: arm=${name} (${Object.keys(arms).join(", ")})`);
  return (await load())();
}
