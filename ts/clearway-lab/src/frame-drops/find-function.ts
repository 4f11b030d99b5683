// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds a function of a user's module: an export, or a task of the module's default export.
import { DefinitionError, kindOf } from "../bench/definition.js";
import { orMeant } from "../bench/nearest-name.js";

type Call = (...args: unknown[]) => unknown;

/** The name of the task in the module that `taskModuleOf` returns. */
export const TASK = "call";

/**
 * Returns the text of a task module that calls the function `name` of `file`. If `file` exposes tasks itself, a worker keeps those, because
 * a worker exposes only once.
 */
export function taskModuleOf(file: string, name: string): string {
  const text = JSON.stringify(name);
  return `import * as module from ${JSON.stringify(file)};
import { expose } from "clearway/worker";
const call = (...args) => (module[${text}] ?? module.default?.[${text}])(...args);
try {
  expose({ ${TASK}: call });
} catch {}
`;
}

/** Throws a DefinitionError that names the nearest function if there is no such function. */
export function findFunction(module: Record<string, unknown>, name: string): Call {
  const exposed = isObject(module["default"]) ? module["default"] : {};
  const value = Object.hasOwn(module, name) ? module[name] : Object.hasOwn(exposed, name) ? exposed[name] : undefined;
  if (typeof value === "function") return value as Call;
  if (value !== undefined) throw new DefinitionError(`${name} is ${kindOf(value)}, not a function`);
  const names = [...new Set([...functionsOf(module), ...functionsOf(exposed)])];
  const list =
    names.length === 0 ? "it exports no function" : `its functions: ${names.map((each) => `#${each}`).join(", ")}`;
  throw new DefinitionError(`it has no export "${name}"${orMeant(name, names)} (${list})`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function functionsOf(value: Record<string, unknown>): string[] {
  return Object.keys(value).filter((name) => typeof value[name] === "function");
}
