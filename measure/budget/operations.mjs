// SPDX-License-Identifier: MIT OR Apache-2.0
// Operations with a budget. Each performs itself `count` times on a pool and leaves nothing running.

const chunkBytes = 65_536;
const rowsARound = 1000;

export const operations = {
  /** A number there and a number back; 500 calls per tick, which share what a carrier does per tick. */
  call: {
    tasks: "clearway.tasks",
    count: 2000,
    async run(pool, count) {
      for (let done = 0; done < count; done += 500)
        await Promise.all(Array.from({ length: 500 }, (_, at) => pool.call.double(at)));
    },
  },
  /** 64 KB chunks from the worker, read as they arrive. */
  "stream chunk": {
    tasks: "clearway.tasks",
    count: 200,
    async run(pool, count) {
      let seen = 0;
      for await (const chunk of pool.call.chunks(count, chunkBytes)) seen += chunk.byteLength;
      if (seen !== count * chunkBytes) throw new Error(`the stream was short: bytes=${seen}`);
    },
  },
  /** A table of 1000 rows as a result, none of which is read. */
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
