// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts the results of measured code to the protocol's form.
import { type Measured, mismatch } from "../protocol/measured.js";
import type { CellRequest, Measurement, SampleSet } from "../protocol/message.js";
import { encodeHistogram, histogramOf } from "../statistics/distribution.js";

/** Maximum number of samples that are also sent as numbers. A reader of the record can then see each sample. */
const RAW_MAX = 64;

/** Converts a result. Throws if the result is wrong, because only a correct result may have a time. */
export function toMeasurement(measured: Measured, cell: CellRequest): Measurement {
  const wrong = mismatch(cell.expected, measured.result, cell.params);
  if (wrong !== undefined) throw new Error("the work gave a wrong result: " + wrong);
  const samples: Record<string, SampleSet> = {};
  for (const [name, { unit, ns, batch = 1 }] of Object.entries(measured.samples)) {
    const values = Array.from(ns);
    samples[name] = {
      unit,
      n: values.length,
      hdr: encodeHistogram(histogramOf(values)),
      ...(batch > 1 ? { batch } : {}),
      ...(values.length <= RAW_MAX ? { raw: values.map(Math.round) } : {}),
    };
  }
  const { values, timeline, result, notes = [] } = measured;
  return { samples, values, result, notes, ...(timeline ? { timeline } : {}) };
}
