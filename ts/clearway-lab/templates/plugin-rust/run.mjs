// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads the plugin in Node and uses all its channels: node run.mjs [FILE]
import { standardMessageCodec } from "clearway/channel";
import { loadPlugin } from "clearway-native";

const name = { darwin: "libmy_plugin.dylib", win32: "my_plugin.dll" }[process.platform] ?? "libmy_plugin.so";
const plugin = await loadPlugin(process.argv[2] ?? `target/release/${name}`);
const { encode, decode } = standardMessageCodec;

const answer = plugin.channel("uppercase").call(encode("hello"));
console.log(decode(answer.bytes));

const counted = await plugin.channel("count").send(encode({ text: "hello world" }));
const { words, letters } = decode(counted.bytes);
console.log({ words, letters });

for await (const tick of plugin.channel("ticks").listen({ arguments: encode({ count: 3 }) }))
  console.log("tick", decode(tick.bytes));

try {
  await plugin.channel("count").send(encode({ text: "" }));
} catch (error) {
  console.log(error.code, error.message);
}
await plugin.close();
