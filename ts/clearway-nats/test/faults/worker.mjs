// SPDX-License-Identifier: MIT OR Apache-2.0
// A worker process of a test. Its argument is JSON: the options of `serveTasks()`, and how far its clock is wrong.
const { skewMs = 0, ...options } = JSON.parse(process.argv[2]);

if (skewMs !== 0) {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...args) {
      super(...(args.length === 0 ? [Real.now() + skewMs] : args));
    }
    static now() {
      return Real.now() + skewMs;
    }
  };
}

// Imported after the clock was set.
const { serveTasks } = await import("clearway-nats/serve");
const errors = [];
const server = await serveTasks(new URL("../fixtures/built/work.tasks.js", import.meta.url), {
  ...options,
  onError: (error) => errors.push(String(error)),
});
process.on("message", () => process.send({ stats: server.stats(), errors }));
// The test has ended.
process.on("disconnect", () => process.exit());
process.send("ready");
