// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads the plugin in Node and uses all its channels: node run.mjs [FILE]
import { loadPlugin } from "clearway-native";

const name = process.platform === "darwin" ? "libmy_plugin.dylib" : "libmy_plugin.so";
const plugin = await loadPlugin(process.argv[2] ?? `build/${name}`);
const encode = (text) => new TextEncoder().encode(text);
const numbers = ({ bytes }) => [...new Uint32Array(bytes.slice().buffer)];

const answer = plugin.channel("uppercase").call(encode("hello"));
console.log(new TextDecoder().decode(answer.bytes));

const [words, letters] = numbers(await plugin.channel("count").send(encode("hello world")));
console.log({ words, letters });

const three = new Uint8Array(new Uint32Array([3]).buffer);
for await (const tick of plugin.channel("ticks").listen({ arguments: three })) console.log("tick", ...numbers(tick));

try {
  await plugin.channel("count").send(encode(""));
} catch (error) {
  console.log(error.code, error.message);
}
await plugin.close();
