// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes-apps.md for a loop that reacts to cancellation. A child process shares no memory either, as a page without
// isolation. The pool would kill a worker that goes on only after a day.
import { pool } from "clearway";

await using one = pool<typeof import("./loop.tasks.js")>(new URL("./loop.tasks.js", import.meta.url), {
  processes: true,
  size: 1,
  graceMs: 86_400_000,
  onWorker: ({ type }) => console.log(type),
});
for (const name of ["first", "second"]) {
  const leaving = new AbortController();
  const onProgress = () => leaving.abort(new Error(name));
  await one
    .with({ signal: leaving.signal, onProgress })
    .call.count()
    .catch(({ message }) => console.log(message));
}
