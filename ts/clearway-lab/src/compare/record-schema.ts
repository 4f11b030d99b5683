// SPDX-License-Identifier: MIT OR Apache-2.0
// The JSON schema of the parts of record.json that a comparison reads. A record may have more fields.

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const object = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: "object",
  required,
  properties,
});
const mapOf = (of: unknown) => ({ type: "object", additionalProperties: of });

const value = object({ unit: text, value: { type: "number" } });

/** Upper limit for an encoded histogram. The largest of a full run has about 20 000 characters. */
const HISTOGRAM_CHARACTERS_MAX = 1 << 17;

const samples = object(
  {
    unit: { enum: ["us", "ms"] },
    n: { type: "integer", minimum: 1 },
    hdr: { type: "string", minLength: 1, maxLength: HISTOGRAM_CHARACTERS_MAX },
    batch: { type: "integer", minimum: 1 },
  },
  ["unit", "n", "hdr"],
);

const round = object({
  round: count,
  measurement: object({ samples: mapOf(samples), values: mapOf(value) }),
});

const cell = object(
  {
    family: text,
    scenario: text,
    host: text,
    mechanism: text,
    role: { enum: ["clearway", "peer", "reference"] },
    settings: text,
    params: mapOf({ type: ["string", "number"] }),
    control: { type: "boolean" },
    rounds: { type: "array", items: round },
    unavailable: text,
    failure: text,
  },
  ["family", "scenario", "host", "mechanism", "role", "settings", "params", "control", "rounds"],
);

export const RECORD_SCHEMA = object({
  version: { const: 1 },
  profile: text,
  seed: count,
  startedAt: text,
  machine: object({
    os: text,
    arch: text,
    cpu: text,
    cores: count,
    memoryGb: { type: "number" },
    governor: text,
    virtual: text,
    loadBefore: { type: "number" },
  }),
  build: object({
    lab: text,
    clearway: text,
    node: text,
    v8: text,
    chromium: { type: ["string", "null"] },
    commit: { type: ["string", "null"] },
    nodeOptions: text,
    peers: mapOf(text),
  }),
  hosts: mapOf(object({ runtime: text, clockStepUs: { type: "number", minimum: 0 } })),
  scenarios: { type: "array", items: object({ name: text, compare: text }) },
  cells: { type: "array", items: cell },
});
