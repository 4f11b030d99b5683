// SPDX-License-Identifier: MIT OR Apache-2.0
import { Ajv2020 } from "ajv/dist/2020.js";
import { measure } from "clearway/meter";
import { expect, test } from "vitest";
import schema from "../../../spec/stalls.schema.json" with { type: "json" };
import vectors from "../../../spec/vectors/meter.json" with { type: "json" };

const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);

/** Returns the places at which a report does not match the schema. */
const departures = (report: unknown): unknown => (validate(report) ? [] : validate.errors);

test("the meter's report matches the schema of stalls", async () => {
  const { report } = await measure(() => {
    const end = performance.now() + 20;
    while (performance.now() < end);
  });
  expect(departures(JSON.parse(JSON.stringify(report)))).toEqual([]);
});

test.each(vectors.reports)("a report in every language matches the schema: $name", ({ run, report }) => {
  expect(departures({ ...report, stalls: run.stalls })).toEqual([]);
});

test("a report with another version is refused", () => {
  expect(departures({ ...vectors.reports[0]?.report, stalls: [], version: 2 })).not.toEqual([]);
});
