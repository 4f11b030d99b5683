// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests whether the remote control's meter attributes an added network delay to the network.
import { withPage } from "../page.mjs";

const rounds = 6;
const least = 24;

/** Yields the network's share of the increase in delay if each direction is delayed by 60 ms. Takes about 40 s. */
export async function* remoteControl() {
  const serve = new URL("../../examples/remote-control/serve.mjs", import.meta.url);
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    const query = "?width=320&height=180&rate=30";
    samples.push(await withPage(serve, query, { viewport: { width: 1000, height: 1000 } }, shareOfNetwork));
  }
  const name = "remote control: the network's share of a delay that was put into it";
  yield { name, unit: "ratio", sense: "at least", limit: 0.5, samples };
}

async function shareOfNetwork(page) {
  await page.locator('#state[data-state="connected"]').waitFor();
  const before = await medians(page);
  await page.locator('input[name=delayMs][value="60"]').check();
  await page.locator('#weather[data-set="1"]').waitFor();
  const after = await medians(page);
  return (after.network - before.network) / (after.whole - before.whole);
}

/** Moves the pointer over the screen until there are at least `least` commands. Returns their medians. */
async function medians(page) {
  const box = await page.locator("#screen").boundingBox();
  const countOf = async (row) => Number(await page.locator(`tr[data-row="${row}"]`).getAttribute("data-count"));
  while ((await countOf("whole")) < least)
    for (let at = 0; at < 5; at++) await page.mouse.move(box.x + 20 + at * 3, box.y + 20 + at * 2);
  const values = {};
  for (const row of ["whole", "network"])
    values[row] = Number(
      await page.locator(`tr[data-row="${row}"] td[data-quantile="p50"]`).getAttribute("data-value"),
    );
  return values;
}
