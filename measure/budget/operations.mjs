// SPDX-License-Identifier: MIT OR Apache-2.0
// The operations with a budget. `run` repeats its operation `count` times on a pool of `tasks` and leaves nothing running.

const chunkBytes = 65_536;
const rowsARound = 1000;

/** The module of the tasks that the operations call. */
export const tasks = new URL("./tasks.mjs", import.meta.url);

export const operations = {
  /** A call with a number as its argument and its result. Each tick has 500 calls, which share the carrier's work per tick. */
  call: {
    count: 2000,
    async run(pool, count) {
      for (let done = 0; done < count; done += 500)
        await Promise.all(Array.from({ length: 500 }, (_, at) => pool.call.double(at)));
    },
  },
  /** A chunk of 64 KB from the worker, read when it arrives. */
  "stream chunk": {
    count: 200,
    async run(pool, count) {
      let seen = 0;
      for await (const chunk of pool.call.chunks(count, chunkBytes)) seen += chunk.byteLength;
      if (seen !== count * chunkBytes) throw new Error(`the stream was short: bytes=${seen}`);
    },
  },
  /** A call that returns a table of 1000 rows. The caller reads no row. */
  "records return": {
    readsRecords: true,
    count: 200,
    async run(pool, count) {
      for (let done = 0; done < count; done++) {
        const table = await pool.call.students(rowsARound, 100);
        if (table.length !== rowsARound) throw new Error(`the table was short: rows=${table.length}`);
      }
    },
  },
};
