// SPDX-License-Identifier: MIT OR Apache-2.0
// Exports of a record whose histograms were removed or damaged: no format makes up samples.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { UsageError } from "../src/cli/errors.js";
import { exportRun, readSource } from "../src/cli/export.js";
import { FORMAT_NAMES } from "../src/export/formats.js";
import type { RunRecord } from "../src/run/record.js";
import { resultsOf } from "../src/run/results.js";
import { exportedRecord } from "./exported.js";

const scratch = mkdtempSync(path.join(tmpdir(), "clearway-gone-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
afterEach(() => vi.restoreAllMocks());

let folders = 0;
/** Writes a run whose second round has another histogram, and its results unless `results` is false. Returns its folder. */
function run(hdr: string | undefined, results = true): string {
  const whole = exportedRecord();
  const folder = path.join(scratch, String(++folders));
  mkdirSync(folder);
  if (results) writeFileSync(path.join(folder, "results.json"), JSON.stringify(resultsOf(whole)));
  const changed = JSON.parse(JSON.stringify(whole)) as RunRecord;
  Object.assign(changed.cells[0]!.rounds[1]!.measurement.samples["latency"]!, { hdr });
  writeFileSync(path.join(folder, "record.json"), JSON.stringify(changed));
  return folder;
}

describe("an export of a record without its histograms", () => {
  const needSamples = ["jetpack", "jmh", "hgrm", "hlog"];

  test.each(FORMAT_NAMES.filter((name) => needSamples.includes(name)))(
    "says that %s needs them, and writes nothing",
    (name) => {
      const said: string[] = [];
      vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0);
      const folder = run(undefined);
      const out = path.join(folder, "out");
      expect(exportRun(name, folder, { out })).toBe(1);
      expect(said.join("")).toBe(
        `nothing to export: ${name} needs the samples of a run, and ${folder}/record.json at /cells/0/rounds/1/measurement/samples/latency has lost them. Use bmf, openmetrics or markdown, which need only figures\n`,
      );
      expect(() => readFileSync(out)).toThrow("ENOENT");
    },
  );

  test.each(FORMAT_NAMES.filter((name) => !needSamples.includes(name)))(
    "takes the figures of %s from the results",
    (name) => {
      vi.spyOn(process.stdout, "write").mockImplementation(() => true);
      const folder = run("");
      const whole = path.join(folder, "whole");
      const without = path.join(folder, "without");
      expect(exportRun(name, folder, { out: without })).toBe(0);
      expect(exportRun(name, path.join(folder, "results.json"), { out: whole })).toBe(0);
      expect(readFileSync(without, "utf8")).toBe(readFileSync(whole, "utf8"));
    },
  );

  test("names the place if there are no results either, and if a histogram is damaged", () => {
    expect(() => readSource(run(undefined, false))).toThrow(
      /has lost samples: \/cells\/0\/rounds\/1\/measurement\/samples\/latency has no histogram, and there is no results\.json/,
    );
    const damaged = run("no histogram");
    expect(() => readSource(damaged)).toThrow(UsageError);
    expect(() => readSource(damaged)).toThrow(/is damaged, no figures follow from its rounds/);
  });
});
