// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks results.json against spec/results.schema.json before it is written.
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import schema from "../../../../spec/results.schema.json" with { type: "json" };
import type { Results } from "./results.js";

let compiled: ValidateFunction | undefined;

/** Throws an Error that lists the first ten places at which the value does not match the schema. */
export function assertResults(value: unknown): asserts value is Results {
  compiled ??= new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
  const validate = compiled;
  if (validate(value)) return;
  const places = (validate.errors ?? [])
    .slice(0, 10)
    .map(({ instancePath, message }) => `${instancePath || "/"} ${message}`);
  throw new Error("not a results file (spec/results.schema.json): " + places.join("; "));
}

export function readResults(path: string): Results {
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  assertResults(value);
  return value;
}
