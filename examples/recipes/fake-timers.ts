// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes-apps.md for fake timers.
import { mock } from "node:test";
import { pool } from "clearway";

await using work = pool<typeof import("./work.tasks.js")>(new URL("./work.tasks.js", import.meta.url));
// #region fake-timers
mock.timers.enable({ apis: ["setTimeout", "Date"] });
const reminder = new Promise((resolve) =>
  setTimeout(resolve, 60_000, "a minute of the app's own timers takes no time"),
);
await work
  .with({ timeoutMs: 50 })
  .call.spin()
  .catch(({ code }) => console.log(code)); // timeout, after 50 real ms
mock.timers.tick(60_000);
console.log(await reminder); // a minute of the app's own timers takes no time
mock.timers.reset();
// #endregion fake-timers
