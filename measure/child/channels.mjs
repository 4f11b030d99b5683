// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures round trips to a worker in Node: by a channel, and by a bare port with an id map. Both take turns in one process. The main thread
// prints one JSON line: the ratios of the rounds, by shape. Argument: the number of rounds.
import { isMainThread, MessageChannel, Worker, workerData } from "node:worker_threads";
import { binaryCodec, connect, move, portTransport } from "clearway/channel";

const calls = 500;
// V8 compiles the functions of a message within about two thousand calls.
const warmRounds = 6;

const mixed = {
  id: 123_456,
  name: "Zoë Müller",
  tags: ["alpha", "beta", "gamma"],
  bytes: new Uint8Array(512),
  ints: new Int32Array(64),
  floats: new Float64Array(32),
  rows: Array.from({ length: 10 }, (_, at) => ({ id: at, title: `Row ${at}`, price: 9.99 + at, stock: at % 2 === 0 })),
  text: "A clearway is a stretch of road on which nobody may stop.",
};
const shapes = {
  null: { make: () => null, moves: false },
  "2 KB": { make: () => mixed, moves: false },
  "1 MB moved": { make: () => new Uint8Array(1 << 20), moves: true },
};

if (isMainThread) console.log(JSON.stringify(await measure(Number(process.argv[2]))));
else serve(workerData);

function serve({ bare, own, moves }) {
  bare.on("message", ({ id, value }) => bare.postMessage({ id, value }, moves ? [value.buffer] : []));
  void connect(portTransport(own)).then((end) => end.messages("echo", codecOf(moves)).handle((value) => value));
}

/** Bytes that move cross as they are. Other values cross by the codec that both ends agreed on. */
function codecOf(moves) {
  return moves ? binaryCodec : undefined;
}

async function measure(rounds) {
  const ratios = {};
  for (const [name, { make, moves }] of Object.entries(shapes)) {
    const [bare, own] = [new MessageChannel(), new MessageChannel()];
    const ports = { bare: bare.port2, own: own.port2 };
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { ...ports, moves },
      transferList: Object.values(ports),
    });
    const end = await connect(portTransport(own.port1));
    const messages = end.messages("echo", codecOf(moves));
    const ways = [
      lanesOf(make, moves, bareCall(bare.port1, moves)),
      lanesOf(make, moves, moves ? (value) => messages.send(move(value)) : (value) => messages.send(value)),
    ];
    for (const inFlight of [1, 3]) {
      const found = [];
      for (let round = -warmRounds; round < rounds; round++) {
        const us = [0, 0];
        // The order changes with each round.
        for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) us[at] = await timed(ways[at], inFlight);
        if (round >= 0) found.push(us[1] / us[0]);
      }
      ratios[inFlight === 1 ? name : `${name}, three in flight`] = found;
    }
    await end.close();
    bare.port1.close();
    await worker.terminate();
  }
  return ratios;
}

function bareCall(port, moves) {
  const pending = new Map();
  let last = 0;
  port.on("message", ({ id, value }) => {
    pending.get(id)(value);
    pending.delete(id);
  });
  return (value) =>
    new Promise((resolve) => {
      pending.set(++last, resolve);
      port.postMessage({ id: last, value }, moves ? [value.buffer] : []);
    });
}

/** Returns a function that makes a call on a lane. A lane whose value moves sends what came back. */
function lanesOf(make, moves, call) {
  const lanes = [make(), make(), make()];
  return async (lane) => {
    const answer = await call(lanes[lane]);
    if (moves) lanes[lane] = answer;
  };
}

/** Returns the microseconds per call: the median of calls one at a time, or the mean of calls in flight. */
async function timed(call, inFlight) {
  const us = [];
  let left = calls;
  const lane = async (at) => {
    while (left-- > 0) {
      const begin = performance.now();
      await call(at);
      us.push((performance.now() - begin) * 1000);
    }
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: inFlight }, (_, at) => lane(at)));
  if (inFlight > 1) return ((performance.now() - begin) * 1000) / calls;
  return us.sort((a, b) => a - b)[calls >> 1];
}
