// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks what a runner answers. A runner may be any program, so the lab trusts neither the form of an answer nor its figures.

import { inflateSync } from "node:zlib";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import schema from "../../../../spec/runner-answers.schema.json" with { type: "json" };
import { mismatch } from "../protocol/measured.js";
import {
  type CellRequest,
  type Description,
  type Measurement,
  PROTOCOL_VERSION,
  type SampleSet,
  type Verification,
} from "../protocol/message.js";
import { decodeHistogram, encodeHistogram, histogramOf } from "../statistics/distribution.js";

/** Maximum size of a histogram after its decompression, in bytes. One with three digits and 64 bits has at most 0.5 MB. */
const HISTOGRAM_BYTES_MAX = 8 << 20;
/** Number of bytes before the compressed part of a histogram: a cookie and a length. */
const HISTOGRAM_HEAD_BYTES = 8;

/** Largest number of samples that a record keeps as numbers. */
const RAW_KEPT = 64;

const NAME = "runner-answers";
let ajv: Ajv2020 | undefined;

export function checkedDescription(value: unknown): Description {
  const protocol = (value as { protocol?: unknown } | null | undefined)?.protocol;
  if (protocol !== undefined && protocol !== PROTOCOL_VERSION)
    throw new RunnerError(
      "version",
      `the runner speaks version ${shownValue(protocol)} of the runner protocol, and this lab speaks version ${PROTOCOL_VERSION}: update the older of the two`,
    );
  check("description", value);
  return value as Description;
}

export function checkedVerification(value: unknown, cell: CellRequest): Verification {
  check("verification", value);
  checkResult((value as Verification).result, cell);
  return value as Verification;
}

/** Returns the measurement. Adds the histogram of samples that the runner sent only as numbers. Throws RunnerError. */
export function checkedMeasurement(value: unknown, cell: CellRequest): Measurement {
  check("measurement", value);
  const measurement = value as Measurement;
  checkResult(measurement.result, cell);
  const samples: Measurement["samples"] = {};
  for (const [name, sample] of Object.entries(measurement.samples)) samples[name] = checkedSample(name, sample);
  return { ...measurement, samples };
}

function checkResult(result: Measurement["result"], cell: CellRequest): void {
  const wrong = mismatch(cell.expected, result, cell.params);
  if (wrong !== undefined) throw new RunnerError("wrong-answer", `the work gave a wrong result: ${wrong}`);
}

function checkedSample(name: string, sample: Omit<SampleSet, "hdr"> & { hdr?: string }): SampleSet {
  const { hdr, raw, n } = sample;
  const at = `/samples/${name}`;
  if (hdr === undefined) {
    if (raw?.length !== n) throw wrong(`${at}/raw has ${raw?.length ?? 0} numbers, and n=${n}`);
    const { raw: values, ...rest } = sample;
    return { ...rest, ...(n <= RAW_KEPT && { raw }), hdr: encodeHistogram(histogramOf(values ?? raw)) };
  }
  let total: number;
  try {
    // Decompresses with a limit first, because a few kilobytes can decompress to gigabytes.
    const compressed = Buffer.from(hdr, "base64").subarray(HISTOGRAM_HEAD_BYTES);
    inflateSync(compressed, { maxOutputLength: HISTOGRAM_BYTES_MAX });
    total = decodeHistogram(hdr).totalCount;
  } catch (error) {
    throw wrong(`${at}/hdr is not an HdrHistogram in V2 encoding, compressed, base64 (${(error as Error).message})`);
  }
  if (total !== n) throw wrong(`${at}/hdr has ${total} samples, and n=${n}`);
  return { ...sample, hdr };
}

function check(kind: keyof (typeof schema)["$defs"], value: unknown): void {
  const validate = validator(kind);
  if (validate(value)) return;
  const [first] = validate.errors ?? [];
  const { allowedValues } = (first?.params ?? {}) as { allowedValues?: unknown[] };
  const which = allowedValues && `: ${shownValue(first?.data)} is none of ${allowedValues.join(", ")}`;
  throw wrong(`not a ${kind}: ${first?.instancePath || "/"} ${first?.message ?? "is invalid"}${which ?? ""}`);
}

function validator(kind: string): ValidateFunction {
  ajv ??= new Ajv2020({ allowUnionTypes: true, verbose: true }).addSchema(schema, NAME);
  return ajv.getSchema(`${NAME}#/$defs/${kind}`) as ValidateFunction;
}

function wrong(problem: string): RunnerError {
  return new RunnerError(
    "wrong-answer",
    `the runner's answer breaks the protocol (docs/lab/runner-protocol.md): ${problem}`,
  );
}

function shownValue(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 40);
}

/**
 * How a runner failed. `start`: its program could not be started. `ended`: it exited, or closed its output. `silent`: it did not answer in
 * time. `not-json`, `too-long`: it wrote such a line. `version`: it speaks another version of the protocol. `wrong-answer`: its answer
 * breaks the protocol, or its result is wrong. `refused`: it answered with an error.
 */
export type RunnerProblem =
  | "start"
  | "ended"
  | "silent"
  | "not-json"
  | "too-long"
  | "version"
  | "wrong-answer"
  | "refused";

/** The failure of a runner. Only after `refused` and `wrong-answer` does the runner still run. */
export class RunnerError extends Error {
  readonly code: RunnerProblem;

  constructor(code: RunnerProblem, message: string) {
    // A runner chooses parts of the message, and a terminal would obey the control characters in it.
    super(message.replace(/(?!\n)\p{Cc}/gu, " "));
    this.name = "RunnerError";
    this.code = code;
  }
}
