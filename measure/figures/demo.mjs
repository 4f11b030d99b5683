// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how long each of the demo's implementations ("ways") blocks the page's thread. Uses the demo's own meter.
import { withPage } from "../page.mjs";

const rounds = 6;
// The length of the shortest stall that the demo's meter records, in milliseconds. If the longest stall is 0, all were shorter than this.
const floorMs = 4;
const asked = [
  ["students", "by-hand", "longestStallMs", 10],
  ["students", "comlink", "longestStallMs", 10],
  ["students", "main-thread", "longestStallMs", 2],
  ["photo", "main-thread", "longestStallMs", 5],
  // The stalls of this way are short and many, so dropped frames describe them better.
  ["upload", "main-thread", "droppedFrames", 2],
];

/** Yields, for each way, its longest stall (or its dropped frames) divided by Clearway's in the same round. Takes about 60 s. */
export async function* demo() {
  const found = await withPage(
    new URL("../../examples/demo/serve.mjs", import.meta.url),
    "",
    // With this flag, the page collects garbage before each run, so that no run collects the garbage of an earlier one.
    { flags: ["--js-flags=--expose-gc"] },
    async (page) => {
      const all = asked.map(() => []);
      const least = { longestStallMs: floorMs, droppedFrames: 1 };
      for (let round = 0; round < rounds; round++) {
        for (const job of new Set(asked.map(([each]) => each))) {
          const clearway = await press(page, job, "clearway");
          for (const [at, [of, way, metric]] of asked.entries()) {
            if (of !== job) continue;
            const other = await press(page, job, way);
            all[at].push(Math.max(least[metric], other[metric]) / Math.max(least[metric], clearway[metric]));
          }
        }
      }
      return all;
    },
  );
  for (const [at, [job, way, metric, limit]] of asked.entries()) {
    const what = metric === "droppedFrames" ? "dropped frames" : "longest stall";
    const name = `demo, ${job}: ${what}, ${way} over Clearway`;
    yield { name, unit: "ratio", sense: "at least", limit, samples: found[at] };
  }
}

/** Presses a button, waits for the result in the table, and returns the result. */
async function press(page, job, way) {
  const row = page.locator(`tr[data-job="${job}"][data-way="${way}"]`);
  const before = Number((await row.getAttribute("data-runs")) ?? 0);
  await page.locator(`#${job} button[data-way="${way}"]`).click();
  await page.locator(`tr[data-job="${job}"][data-way="${way}"][data-runs="${before + 1}"]`).waitFor();
  const value = async (metric) => Number(await row.locator(`[data-metric="${metric}"]`).getAttribute("data-value"));
  return { longestStallMs: await value("longestStallMs"), droppedFrames: await value("droppedFrames") };
}
