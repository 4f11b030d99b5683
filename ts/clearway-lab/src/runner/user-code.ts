// SPDX-License-Identifier: MIT OR Apache-2.0
// The process of a user's own code: a way of a scenario as an arm of the engine, or the probes that read and verify a scenario. Whatever the code does, this process answers, or the lab kills it.
import { nowMs } from "#lab-host";
import { serveArm } from "../arm/serve-node.js";
import { type Definition, readDefinition } from "../bench/definition.js";
import { crossingOf, functionDefinition } from "../bench/function.js";
import { type ScenarioInfo, SETTINGS_VARIABLE, Steps, type UserCodeSettings } from "../bench/steps.js";
import { choose, openWay, type Reference, verifyWay, type WayArm } from "../bench/ways.js";
import type { ArmReply, ArmRequest } from "../protocol/arm.js";
import { openChannel, type RunnerOperations, serve } from "../protocol/lines.js";
import { type Json, PROTOCOL_VERSION } from "../protocol/message.js";
import { clockStepUs } from "../statistics/warm-up.js";

const {
  urls,
  timeoutMs,
  way,
  function: functionName,
} = JSON.parse(process.env[SETTINGS_VARIABLE] ?? "{}") as UserCodeSettings;
let steps = new Steps(timeoutMs);

// Ctrl-C may reach the whole process group. The lab decides when a runner ends.
process.on("SIGINT", () => {});
process.on("uncaughtException", (error) => {
  if (!steps.fail(error)) process.stderr.write(`${String(error)}\n`);
});
const exit = process.exit;
process.exit = ((code?: number) => {
  throw new Error(`process.exit(${code ?? ""}) was called, which would end the app`);
}) as typeof process.exit;

const operations: RunnerOperations = {
  describe: async () => ({
    protocol: PROTOCOL_VERSION,
    host: "node",
    runtime: "Node " + process.version,
    fresh: "process",
    crossOriginIsolated: true,
    clockStepUs: clockStepUs(nowMs),
    mechanisms: [],
  }),
  verify: async () => {
    throw new Error("a user's code is verified by the probe `verify`");
  },
  measure: async () => {
    throw new Error("a user's code is measured as an arm");
  },
  probe: async ({ name, params }) => probe(name, params as Record<string, Json>),
  close: async () => {},
};
// The channel fails if the lab was killed. Whatever the code has left running ends then, too.
await (way === undefined ? serve(operations, openChannel()) : serveWay(way)).finally(() => exit(0));

/** Serves a way. Each run of a request has the limit of time for itself; the result of the last call of a warm-up is verified. */
async function serveWay(name: string): Promise<void> {
  let opened: WayArm;
  const open = async (): Promise<WayArm> => {
    const definition = await define();
    opened = await openWay(definition, name, steps);
    return opened;
  };
  const guard = async (request: ArmRequest, reply: () => Promise<ArmReply>): Promise<ArmReply> => {
    if (request.op === "end") return reply();
    try {
      steps.restart();
      return await steps.run("a call", async () => {
        const answer = await reply();
        if (request.op === "warm" && !("failed" in answer)) await opened.verify(request.work);
        return answer;
      });
    } catch (error) {
      return { failed: (error as Error).message };
    }
  };
  await serveArm(open, guard);
}

async function define(): Promise<Definition> {
  steps = new Steps(timeoutMs);
  const module = await steps.run("loading the file", () => import(urls[0]!) as Promise<Record<string, unknown>>);
  return functionName === undefined ? readDefinition(module) : functionDefinition(module, functionName, urls[1]!);
}

async function probe(operation: string, params: Record<string, Json>): Promise<Json> {
  if (operation === "read") return infoOf(await define()) as unknown as Json;
  if (operation === "verify") {
    const definition = await define();
    const input = (params["input"] ?? undefined) as string | undefined;
    const chosen = choose(definition, String(params["way"]), input, steps);
    return (await verifyWay(chosen, await referenceOf(definition, params, input))) as unknown as Json;
  }
  if (operation === "crossing") return (await crossingOf(await define(), steps)) as unknown as Json;
  throw new RangeError(`unknown probe: name=${operation} (read, verify, crossing)`);
}

/** Returns the way whose result is expected: another way of the file, or the same way of the file `before`. */
async function referenceOf(
  definition: Definition,
  { way, reference, before }: Record<string, Json>,
  input: string | undefined,
): Promise<Reference | undefined> {
  if (reference !== undefined)
    return { ...choose(definition, String(reference), input, steps), name: String(reference) };
  if (before === undefined || definition.check !== undefined) return undefined;
  const name = String(before);
  const module = await steps.run(`loading ${name}`, () => import(urls[1]!) as Promise<Record<string, unknown>>);
  return { ...choose(readDefinition(module), String(way), input, steps), name };
}

function infoOf({ title, inputs, ways, check }: Definition): ScenarioInfo {
  return {
    ...(title === undefined ? {} : { title }),
    inputs: inputs.map(({ name }) => name ?? null),
    ways: ways.map(({ name }) => name),
    hasCheck: check !== undefined,
  };
}
