// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fill } from "../../scripts/figures/fill.mjs";
import { summary, tables } from "../../scripts/figures/tables.mjs";

const kept = JSON.parse(readFileSync(new URL("../../lab/records/promises.json", import.meta.url), "utf8"));
const marked = (name: string, inside = "") =>
  `before\n<!-- figures: ${name} -->\n${inside}<!-- end of figures -->\nafter`;

/** Returns the committed run with another figure in one cell. */
function changed(promise: string, figure: number, verdict: string) {
  const cells = kept.cells.map((cell: { scenario: string; host: string; params: object; metrics: object }) =>
    cell.scenario === promise && cell.host === "node"
      ? {
          ...cell,
          params: { ...cell.params, verdict },
          metrics: { figure: { unit: "ratio", value: figure }, p25: { value: 1 }, p75: { value: 9 } },
        }
      : cell,
  );
  return { ...kept, cells };
}

describe("the figures of a page", () => {
  test("are written between their marks, and everything else stays", () => {
    const { page, problems, count } = fill(marked("records", "an old table\n"), kept);
    expect(problems).toEqual([]);
    expect(count).toBe(1);
    expect(page).toMatch(/^before\n<!-- figures: records -->\n\n\| measurement \|/);
    expect(page).toMatch(/\n\n<!-- end of figures -->\nafter$/);
    expect(page).not.toContain("an old table");
  });

  test("are the same when they are written again", () => {
    const once = fill(marked("summary"), kept).page;
    expect(fill(once, kept).page).toBe(once);
  });

  test.each(Object.keys(tables))("for the table %s are all in the kept run", (name) => {
    expect(fill(marked(name), kept).problems).toEqual([]);
  });

  test("show the median, the middle half and a missed target", () => {
    const { page } = fill(marked("records"), changed("scan-chunk-cursors", 7.25, "missed"));
    expect(page).toContain("| 7.25 (1 to 9), **missed** |");
  });

  test("show Clearway's time before the other library's, in either direction of the ratio", () => {
    const { page } = fill(marked("summary"), kept);
    const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| -"));
    expect(rows).toHaveLength(summary.length + 1);
    for (const row of rows.slice(1, -1)) {
      const [ours, theirs] = [...row.matchAll(/([\d.]+) (?:us|ms|thousand)/g)].map(([, figure]) => Number(figure));
      if (row.includes("Calls per second")) expect(ours).toBeGreaterThan(theirs as number);
      else if (!row.includes("Pool start")) expect(ours).toBeLessThan(theirs as number);
    }
  });

  test("are left unchanged under an unknown table name, which is reported", () => {
    const text = marked("callz", "kept\n");
    expect(fill(text, kept)).toMatchObject({
      page: text,
      problems: [
        "line 2: no table is called callz; there are: machine, summary, calls, records, pool, streams, channels, remote, native",
      ],
    });
  });

  test("are refused with the line of a missing end mark", () => {
    expect(fill("<!-- figures: calls -->\ntext", kept).problems).toEqual([
      'line 1: "<!-- end of figures -->" is missing',
    ]);
  });

  test("are refused with the row that has no cell in the results", () => {
    const { problems } = fill(marked("pool"), { ...kept, cells: [] });
    expect(problems).toEqual([expect.stringContaining('no cell for "Start of a pool')]);
  });
});
