// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks an export against spec/jetpack-benchmark.schema.json before it is written.
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../../../spec/jetpack-benchmark.schema.json" with { type: "json" };
import type { JetpackReport } from "./jetpack.js";

/** Throws an Error that lists the first ten places at which the value does not match the schema. */
export function assertJetpack(value: unknown): asserts value is JetpackReport {
  const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
  if (validate(value)) return;
  const places = (validate.errors ?? [])
    .slice(0, 10)
    .map(({ instancePath, message }) => `${instancePath || "/"} ${message}`);
  throw new Error("not Benchmark JSON (spec/jetpack-benchmark.schema.json): " + places.join("; "));
}
