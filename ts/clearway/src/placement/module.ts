// SPDX-License-Identifier: MIT OR Apache-2.0
import { messageOf } from "../error/message-of.js";
import { definitionOfTask, type TaskDefinition } from "../task/task.js";
import type { PlacerOwner } from "./owner.js";

/** The task module on the caller's side, or why it is not there. */
export type LoadedModule = { tasks: ReadonlyMap<string, TaskDefinition> } | { why: string };

/**
 * Imports the task module into the caller's thread. Never rejects: without it every call goes to a worker, and the
 * advisor tells why.
 */
export async function loadModule(
  source: PlacerOwner["source"],
  load: (() => Promise<unknown>) | undefined,
): Promise<LoadedModule> {
  try {
    if (load === undefined && typeof source === "function") {
      return { why: 'the pool was made with a factory; give it `module: () => import("./x.tasks.js")` as well' };
    }
    // The bundler must leave it alone: it is the same URL that the workers load.
    const module = await (load ? load() : import(/* @vite-ignore */ /* webpackIgnore: true */ urlOf(source as string)));
    const tasks = (module as { default?: unknown } | null)?.default;
    if (tasks === null || typeof tasks !== "object") return { why: "the module exports no tasks by default" };
    return { tasks: new Map(Object.entries(tasks).map(([name, fn]) => [name, definitionOfTask(name, fn)])) };
  } catch (reason) {
    return {
      why: `the module cannot be loaded on this thread: ${messageOf(reason)}`,
    };
  }
}

// A worker's URL counts from the page, or from the working directory; an import's would count from this file.
function urlOf(source: URL | string): string {
  if (typeof source !== "string" || /^[a-z]+:/.test(source)) return String(source);
  const { document, location, process } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
    process?: { cwd(): string };
  };
  return new URL(source, document?.baseURI ?? location?.href ?? `file://${process?.cwd()}/`).href;
}
