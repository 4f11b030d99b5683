// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes the steps of README.md from stdin, and prints the answer to each: node node.mjs < STEPS
import { createInterface } from "node:readline";
import { loadPlugin } from "clearway-native";

const bytesOf = (word) => (word === "null" ? null : new Uint8Array(Buffer.from(word.slice(1), "hex")));
const wordOf = (bytes) => (bytes === null ? "null" : `x${Buffer.from(bytes).toString("hex")}`);

function answerOf(message) {
  const word = wordOf(message.bytes);
  message.release();
  return word;
}

let plugin;

/** Fills native memory, lets `send` use it, and returns the answer and the memory's bytes. */
async function withMemory(word, send) {
  const bytes = bytesOf(word);
  const memory = plugin.allocate(bytes.length);
  try {
    memory.bytes.set(bytes);
    const answer = answerOf(await send(memory));
    return `${answer} ${wordOf(memory.bytes)}`;
  } finally {
    memory.release();
  }
}

async function listen(channel, word, items, from, to, count) {
  const events = plugin.channel(channel).listen({ arguments: bytesOf(word), items: Number(items) });
  let [seen, size, hash] = [0, 0, 0x811c9dc5];
  for await (const event of events) {
    seen++;
    size += event.bytes.length;
    for (const byte of event.bytes.subarray(Number(from), Number(to))) hash = Math.imul(hash ^ byte, 0x01000193);
    event.release();
    if (seen === Number(count)) break;
  }
  return `${seen} events, ${size} bytes, ${(hash >>> 0).toString(16)}`;
}

const verbs = {
  async open(...path) {
    plugin = await loadPlugin(path.join(" "));
    plugin.handle("echo/host", (message) => message.bytes?.slice() ?? null);
    return "opened";
  },
  call: (channel, word) => answerOf(plugin.channel(channel).call(bytesOf(word))),
  send: async (channel, word) => answerOf(await plugin.channel(channel).send(bytesOf(word))),
  attach: (channel, word, memory) =>
    withMemory(memory, (attached) => plugin.channel(channel).send(bytesOf(word), { attachments: [attached] })),
  lend: (channel, memory) => withMemory(memory, (lent) => plugin.channel(channel).send(lent)),
  listen,
  async close() {
    await plugin.close();
    return "closed";
  },
};

for await (const step of createInterface({ input: process.stdin })) {
  const [verb, ...words] = step.split(" ");
  try {
    console.log(await verbs[verb](...words));
  } catch (error) {
    console.log(`error ${error.code ?? error}`);
  }
}
