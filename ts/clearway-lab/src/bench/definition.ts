// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the default export of a scenario file. Every message names the field, the problem and the remedy.
import { orMeant } from "./nearest-name.js";
import { describeThrown } from "./steps.js";

type Call = (...args: unknown[]) => unknown;

export interface ReadWay {
  name: string;
  setup?: Call;
  run: Call;
  teardown?: Call;
}

export interface ReadInput {
  /** The input's name. Undefined if the scenario has no inputs. */
  name: string | undefined;
  /** Returns the input, or a promise of it. */
  make: Call;
  /** Whether `make` returns a new input each time. */
  isFresh: boolean;
}

export interface Definition {
  title?: string;
  inputs: ReadInput[];
  check?: Call;
  ways: ReadWay[];
}

const SETTINGS = ["title", "inputs", "check"];
const WAY_FIELDS = ["setup", "run", "teardown"];
const EXAMPLE = "export default scenario({ inputs: { small: 1000 }, direct: (input) => work(input) })";

/** A mistake in a scenario file. Its message is complete; the command prints no stack. */
export class DefinitionError extends Error {}

/** Reads a module. Throws a DefinitionError if its default export is not a scenario. */
export function readDefinition(module: Record<string, unknown>): Definition {
  if (!("default" in module)) {
    const names = Object.keys(module);
    const found = names.length === 0 ? "it exports nothing" : `it exports only ${names.join(", ")}`;
    throw new DefinitionError(`it has no default export (${found}): write \`${EXAMPLE}\``);
  }
  const exported = module["default"];
  if (!isObject(exported) || typeof exported["then"] === "function")
    throw new DefinitionError(`its default export is ${kindOf(exported)}, not a scenario: write \`${EXAMPLE}\``);
  const ways: ReadWay[] = [];
  const definition: Definition = { inputs: readInputs(field(exported, "inputs")), ways };
  for (const name of Object.keys(exported)) {
    const value = field(exported, name);
    if (value === undefined || name === "inputs") continue;
    if (name === "title") definition.title = text(value);
    else if (name === "check") definition.check = fn("check", value);
    else ways.push(readWay(name, value));
  }
  if (ways.length === 0)
    throw new DefinitionError("the scenario has no way: add a function, such as `direct: (input) => work(input)`");
  return definition;
}

function readInputs(value: unknown): ReadInput[] {
  if (value === undefined) return [{ name: undefined, make: () => undefined, isFresh: false }];
  if (!isObject(value) || Array.isArray(value))
    throw new DefinitionError(
      `inputs: it is ${kindOf(value)}; give each input a name: \`inputs: { small: 1000, large: 1_000_000 }\``,
    );
  const names = Object.keys(value);
  if (names.length === 0)
    throw new DefinitionError("inputs: it is empty; add an input, such as `small: 1000`, or leave `inputs` out");
  return names.map((name) => {
    const input = field(value, name, `inputs.${name}`);
    return typeof input === "function"
      ? { name, make: input as Call, isFresh: true }
      : { name, make: () => input, isFresh: false };
  });
}

function readWay(name: string, value: unknown): ReadWay {
  if (typeof value === "function") return { name, run: value as Call };
  if (!isObject(value) || Array.isArray(value))
    throw new DefinitionError(
      `${name}: it is ${kindOf(value)}; a way is a function or { setup, run, teardown }${orMeant(name, SETTINGS)}`,
    );
  const stranger = Object.keys(value).find((each) => !WAY_FIELDS.includes(each));
  if (field(value, "run", `${name}.run`) === undefined) {
    const near = orMeant(name, SETTINGS);
    const hint = near !== "" ? near : stranger === undefined ? "" : orMeant(stranger, WAY_FIELDS);
    throw new DefinitionError(`${name}: it has no \`run\`; a way is a function or { setup, run, teardown }${hint}`);
  }
  if (stranger !== undefined)
    throw new DefinitionError(
      `${name}.${stranger}: a way has only setup, run and teardown${orMeant(stranger, WAY_FIELDS)}`,
    );
  const way: ReadWay = { name, run: fn(`${name}.run`, field(value, "run")) };
  const [setup, teardown] = [field(value, "setup", `${name}.setup`), field(value, "teardown", `${name}.teardown`)];
  if (setup !== undefined) way.setup = fn(`${name}.setup`, setup);
  if (teardown !== undefined) way.teardown = fn(`${name}.teardown`, teardown);
  return way;
}

/** Returns a property. A getter that throws is a mistake in the file. */
function field(value: Record<string, unknown>, name: string, path = name): unknown {
  try {
    return value[name];
  } catch (error) {
    throw new DefinitionError(`${path}: its getter threw ${describeThrown(error)}`);
  }
}

function text(value: unknown): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  throw new DefinitionError(
    `title: it is ${kindOf(value)}; write a question, such as \`title: "Which way is fastest?"\``,
  );
}

function fn(path: string, value: unknown): Call {
  if (typeof value === "function") return value as Call;
  throw new DefinitionError(`${path}: it is ${kindOf(value)}, not a function`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Describes a value, as `a number: 3`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  if (typeof value === "object")
    return typeof (value as { then?: unknown }).then === "function" ? "a promise" : "an object";
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value);
  return `a ${typeof value}: ${shown}`;
}
