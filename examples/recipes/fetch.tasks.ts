// SPDX-License-Identifier: MIT OR Apache-2.0
// Tasks that get a URL, fetch what it names, and return only what the caller shows.
import { expose, task } from "clearway/worker";

/** Returns the answer of a URL. The request ends when the caller cancels. */
async function get(url: string, signal: AbortSignal) {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response;
}

export default expose({
  // #region fetch-tasks
  peopleOf: task(async ({ signal }, url: string, city: string) => {
    const people: { name: string; city: string }[] = await (await get(url, signal)).json();
    return people.filter((each) => each.city === city); // plain objects, and only those that are shown
  }),

  thumbnail: task(async ({ signal }, url: string) => {
    const pixels = new Uint8Array(await (await get(url, signal)).arrayBuffer()); // one byte for each pixel
    return pixels.filter((_, at) => at % 4 === 0); // bytes move to the caller
  }),
  // #endregion fetch-tasks
});
