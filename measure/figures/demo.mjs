// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the demo: how long each way blocks the page's thread, according to the demo's own meter.
import { withPage } from "../page.mjs";

const rounds = 6;
// The meter's floor: a longest stall of 0 means "shorter than this".
const floorMs = 4;
const asked = [
  ["students", "by-hand", "longestStallMs", 10],
  ["students", "comlink", "longestStallMs", 10],
  ["students", "main-thread", "longestStallMs", 2],
  ["photo", "main-thread", "longestStallMs", 5],
  // Its stalls are short and many, so the dropped frames describe them better.
  ["upload", "main-thread", "droppedFrames", 2],
];

/** Yields, for each way, its longest stall (or dropped frames) over Clearway's in the same round. About 60 s. */
export async function* demo() {
  const found = await withPage(
    new URL("../../examples/demo/serve.mjs", import.meta.url),
    "",
    // With this flag the page collects garbage before each run, so that one run does not pay for another's garbage.
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

/** Presses a button, waits for its result in the table, and returns the result. */
async function press(page, job, way) {
  const row = page.locator(`tr[data-job="${job}"][data-way="${way}"]`);
  const before = Number((await row.getAttribute("data-runs")) ?? 0);
  await page.locator(`#${job} button[data-way="${way}"]`).click();
  await page.locator(`tr[data-job="${job}"][data-way="${way}"][data-runs="${before + 1}"]`).waitFor();
  const value = async (metric) => Number(await row.locator(`[data-metric="${metric}"]`).getAttribute("data-value"));
  return { longestStallMs: await value("longestStallMs"), droppedFrames: await value("droppedFrames") };
}
