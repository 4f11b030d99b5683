// SPDX-License-Identifier: MIT OR Apache-2.0
// The operations that have a budget. Each does `count` of itself on a pool and leaves nothing running.

const chunkBytes = 65_536;
const rowsARound = 1000;

export const operations = {
  /** A number there, a number back; five hundred in a tick, so that what a carrier does between them is shared out. */
  call: {
    tasks: "clearway.tasks",
    count: 2000,
    async run(pool, count) {
      for (let done = 0; done < count; done += 500)
        await Promise.all(Array.from({ length: 500 }, (_, at) => pool.call.double(at)));
    },
  },
  /** 64 KB from the worker, read as they come. */
  "stream chunk": {
    tasks: "clearway.tasks",
    count: 200,
    async run(pool, count) {
      let seen = 0;
      for await (const chunk of pool.call.chunks(count, chunkBytes)) seen += chunk.byteLength;
      if (seen !== count * chunkBytes) throw new Error(`the stream was short: bytes=${seen}`);
    },
  },
  /** A table of a thousand rows as a result, of which nothing is read. */
  "records return": {
    tasks: "records.tasks",
    count: 200,
    async run(pool, count) {
      for (let done = 0; done < count; done++) {
        const table = await pool.call.students(rowsARound, 100);
        if (table.length !== rowsARound) throw new Error(`the table was short: rows=${table.length}`);
      }
    },
  },
};
