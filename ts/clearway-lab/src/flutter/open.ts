// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts Flutter's engine for one measurement, and ends everything that it started.
import { packageRoot } from "../machine/optional-packages.js";
import { startDisplay } from "./display.mjs";
import { type Engine, startEngine } from "./engine.mjs";
import { compilePeer, findFlutter } from "./install.mjs";

/** Time for the engine to be loaded and to open its window, in milliseconds. It takes less than half a second. */
const START_MS_MAX = 20_000;

/** Resolves with why the engine cannot run here, and the remedy; or with undefined. Starts it once, for half a second. */
export async function engineProblem(): Promise<string | undefined> {
  try {
    await withEngine(async () => {});
    return undefined;
  } catch (error) {
    return problemOf(error as Error);
  }
}

/** Calls `use` with an engine that can encode and decode. No process is left when the promise settles. */
export async function withEngine<T>(use: (engine: Engine) => Promise<T>, display?: string): Promise<T> {
  const { folder, problem } = findFlutter(packageRoot());
  if (problem !== undefined) throw new Error(problem);
  const compiled = compilePeer(packageRoot());
  if (compiled.problem !== undefined) throw new Error(compiled.problem);
  const { program, remove } = compiled;
  let engine: Engine;
  try {
    engine = await startEngine({
      program,
      folder,
      limitMs: START_MS_MAX,
      ...(display === undefined ? {} : { display }),
    });
  } finally {
    // The system keeps the program's file while it runs, so that nothing is left of it, however this process ends.
    remove();
  }
  try {
    return await use(engine);
  } finally {
    await engine.end();
  }
}

/** The same with a window on a display of its own, in which the Dart program runs. */
export async function withWindow<T>(use: (engine: Engine) => Promise<T>): Promise<T> {
  const display = await startDisplay();
  try {
    return await withEngine(async (engine) => {
      await engine.openWindow(START_MS_MAX);
      return use(engine);
    }, display.name);
  } finally {
    await display.end();
  }
}

const LIBRARIES = "libgtk-3-0 libepoxy0 libegl1 libgl1 libgl1-mesa-dri";

function problemOf({ message }: Error): string {
  const [first = ""] = message.split("\n");
  return first.includes("cannot open shared object file")
    ? `${first}: install what the engine needs (Debian: apt-get install -y --no-install-recommends ${LIBRARIES} xvfb)`
    : first;
}
