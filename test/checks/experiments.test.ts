// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the generator of docs/experiments.md with records of a fixture.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { newestRecord, pageWith } from "../../scripts/figures/experiments.mjs";

const folder = mkdtempSync(join(tmpdir(), "clearway-experiments-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the page of the experiments", () => {
  test("gets its generated part between its marks, and keeps the rest", () => {
    const page = pageWith("part one");
    expect(page).toMatch(/^# The five published experiments\n/);
    expect(page).toContain("<!-- experiments -->\npart one\n<!-- /experiments -->");
    const edited = page.replace("# The five", "# All five");
    expect(pageWith("part two", edited)).toBe(edited.replace("part one", "part two"));
  });

  test("is refused without its marks", () => {
    expect(() => pageWith("part", "# A page")).toThrow("docs/experiments.md has no part between");
  });

  test("shows the newest kept run of the profile, in a folder that its date begins", () => {
    expect(newestRecord(folder)).toBeUndefined();
    const keep = (name: string, profile?: string) => {
      mkdirSync(join(folder, name));
      if (profile !== undefined)
        writeFileSync(join(folder, name, "results.json"), JSON.stringify({ run: { profile } }));
    };
    keep("2026-01-02-a-machine", "published");
    keep("2026-03-01-a-machine", "published");
    keep("2026-04-01-a-machine", "quick");
    keep("2027-01-01-a-machine");
    keep("notes", "published");
    expect(newestRecord(folder)).toBe(join(folder, "2026-03-01-a-machine"));
  });
});
