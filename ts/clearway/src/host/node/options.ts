// SPDX-License-Identifier: MIT OR Apache-2.0
import { SHARE_ENV, type WorkerOptions } from "node:worker_threads";
import type { Rules, Test } from "../../error/checked.js";
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import type { TextSink, ThreadOptions } from "../host.js";

const texts: Test = (value) =>
  (Array.isArray(value) && value.every((each) => typeof each === "string")) || "an array of strings";

const environment: Test = (value) =>
  value === SHARE_ENV || (typeof value === "object" && value !== null) || "an object of strings, or SHARE_ENV";

const sink: Test = (value) =>
  typeof (value as TextSink | null)?.write === "function" || "an object with the method write(), such as a stream";

/** The rules of `checked()` for the options of a worker's thread. */
export const threadRules: Rules = {
  resourceLimits: {
    maxOldGenerationSizeMb: 0,
    maxYoungGenerationSizeMb: 0,
    codeRangeSizeMb: 0,
    stackSizeMb: 0,
  },
  execArgv: texts,
  env: environment,
  argv: texts,
  workerData: () => true,
  processes: "boolean",
  stdout: sink,
  stderr: sink,
};

/** Returns the options of Node's `Worker`. An option that is not set is left out, so that the worker inherits it. */
export function workerOptions(options: ThreadOptions): WorkerOptions {
  const { resourceLimits, execArgv, env, argv, workerData, stdout, stderr } = options;
  return {
    ...(resourceLimits && { resourceLimits }),
    ...(execArgv && { execArgv: [...execArgv] }),
    ...(env && { env: env as NonNullable<WorkerOptions["env"]> }),
    ...(argv && { argv: [...argv] }),
    ...(workerData !== undefined && { workerData }),
    ...(stdout && { stdout: true }),
    ...(stderr && { stderr: true }),
  };
}

/**
 * The flags of Node that a child does not inherit, each with the reason. It inherits all others: loaders, conditions, permissions, limits of
 * V8. A value that follows a flag as a separate argument goes with it.
 */
const notInherited: readonly RegExp[] = [
  // The child would run the app's own script in place of its file, and so start children without end.
  /^(-e|-p|-pe|--eval|--print)(=|$)/,
  // Says how to read such a script. Node refuses it with a file.
  /^--(input-type|experimental-default-type)(=|$)/,
  // Run something other than a file: a prompt, a check of the syntax, a script of package.json, the test runner, a build of Node.
  /^(-i|--interactive|-c|--check|--run|--build-sea|--build-snapshot|--build-snapshot-config|--experimental-sea-config)(=|$)/,
  /^--test(-|=|$)/,
  // The parent restarts itself, and its children with it.
  /^--watch(-|=|$)/,
  // Two processes cannot listen on one port. `execArgv` can set another one.
  /^--inspect(-|=|$)/,
  // Each child would overwrite the parent's file. Profilers themselves are inherited, and choose a name for each process.
  /^--(cpu-prof-name|heap-prof-name|report-filename)(=|$)/,
];

/** Returns the flags that a child process inherits. `script` is the text of `--eval`, if this process runs one. */
export function inheritedFlags(flags: readonly string[], script?: string): string[] {
  let dropped = false;
  return flags.filter((each) => {
    const isFlag = each.startsWith("-");
    if (each === script || (dropped && !isFlag)) return false;
    dropped = notInherited.some((flag) => flag.test(each));
    return !dropped;
  });
}

/**
 * Returns the environment of a child process. Undefined: a copy of this process's. `NODE_OPTIONS` is filtered like the command line, unless
 * the app has set another one for the child.
 */
export function processEnvironment({ env }: ThreadOptions): NodeJS.ProcessEnv | undefined {
  const variables = (env ?? process.env) as NodeJS.ProcessEnv;
  const given = variables["NODE_OPTIONS"];
  if (!given || given !== process.env["NODE_OPTIONS"]) return env as NodeJS.ProcessEnv | undefined;
  // A value with spaces is in double quotes.
  const flags = given.match(/(?:[^\s"]|"(?:\\.|[^"\\])*")+/g) ?? [];
  return { ...variables, NODE_OPTIONS: inheritedFlags(flags).join(" ") };
}

/** Returns Node's command line options for a worker that is a child process. */
export function processFlags({ execArgv, resourceLimits }: ThreadOptions): string[] {
  const flags = execArgv ? [...execArgv] : inheritedFlags(process.execArgv, (process as { _eval?: string })._eval);
  const { maxOldGenerationSizeMb: old, maxYoungGenerationSizeMb: young } = resourceLimits ?? {};
  if (old !== undefined) flags.push(`--max-old-space-size=${Math.ceil(old)}`);
  // The young generation has three semi-spaces.
  if (young !== undefined) flags.push(`--max-semi-space-size=${Math.max(1, Math.ceil(young / 3))}`);
  return flags;
}

/**
 * Checks the options of workers that are child processes, which are valid on their own. Throws `invalid-argument` for what only threads can
 * have.
 */
export function checkProcesses({ env, resourceLimits }: ThreadOptions): void {
  if (env === SHARE_ENV) throw invalid("env", "an object of strings if processes is true", env);
  for (const name of ["codeRangeSizeMb", "stackSizeMb"] as const) {
    const value = resourceLimits?.[name];
    if (value !== undefined)
      throw invalid(`resourceLimits.${name}`, "left out if processes is true (execArgv can set V8's limits)", value);
  }
}

/** Throws `invalid-argument` if the pool gets its workers from a factory, because a factory makes threads. */
export function refuseFactory(): never {
  throw new ClearwayError(
    "invalid-argument",
    "source must be the URL of a task module if processes is true: a function returns a thread",
  );
}
