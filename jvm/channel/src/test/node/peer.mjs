// SPDX-License-Identifier: MIT OR Apache-2.0
// The TypeScript end in the tests of the JVM's channels. `stdio` is a child with the channel on its standard streams.
// `serve` starts a server of WebSockets and prints its address and token, and `connect URL TOKEN` starts a client.
import { spawn } from "node:child_process";
import { binaryCodec, connect, float64, RemoteError } from "clearway/channel";
import { childTransport, parentTransport } from "clearway/channel/stdio";
import { webSocketTransport } from "clearway/channel/websocket";
import { serveWebSockets } from "clearway/channel/websocket-server";
import { WebSocket } from "ws";

/** Registers the handlers of the TypeScript end at an endpoint. */
function serve(endpoint) {
  endpoint.methods("ts").handle({
    sum: (numbers) => numbers.reduce((sum, each) => sum + each, 0),
    echo: (value) => value,
    half: (value) => float64(value / 2),
    large: (size) => new Uint8Array(size).map((_, at) => at & 0xff),
    refuse: () => {
      throw new RemoteError("OUT_OF_RANGE", "no zoom of 9", { details: { max: 8 } });
    },
    break: () => {
      throw new TypeError("broken", { cause: new RangeError("why") });
    },
    never: (_, { signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => endpoint.messages("heard").post("cancelled").then(reject)),
      ),
    // Calls the JVM's methods and listens to its events.
    async back(count) {
      const seen = [];
      for await (const value of endpoint.events("jvm/numbers").listen(0, { window: { items: 4 } })) {
        seen.push(value);
        if (seen.length === count) break;
      }
      const methods = endpoint.methods("jvm");
      const failed = await methods
        .call("refuse")
        .catch(({ code, details, cause }) => ({ code, details, name: cause?.name }));
      // The JVM end returns the bytes without decoding them.
      const value = { list: new Uint8Array(100_000).fill(7), floats: new Float64Array(5000).fill(1.5), text: "x" };
      const { list, floats, text } = await endpoint.messages("jvm/bytes").send(value);
      const missing = await methods.call("none").catch(({ code }) => code);
      return {
        seen,
        twice: await methods.call("twice", 21),
        large: (await methods.call("large", 100_000)).length,
        passed: [list.length, list[99_999], floats.length, floats[4999], text],
        failed,
        missing,
      };
    },
    // Starts a child of this process and calls a method of the child.
    async child(command) {
      const [program, ...args] = command;
      const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
      const inner = await connect(childTransport(child));
      const answer = await inner.methods("jvm").call("twice", 4);
      await inner.close();
      const status = await new Promise((resolve) => child.on("exit", resolve));
      return { answer, status };
    },
  });
  endpoint.messages("ts/bytes", binaryCodec).handle((bytes) => bytes);
  endpoint.events("ts/numbers").serve(function* (from) {
    for (let number = from; ; number++) yield number;
  });
  endpoint.events("ts/pushed").serve(async (_, sink) => {
    for (let number = 0; number < 100; number++) sink.send(number);
    sink.end();
  });
}

const [way, url, token] = process.argv.slice(2);
// Errors are sent in full, so that the test covers how the JVM reads them. By default, a socket carries only code and
// message.
const whole = { exposeErrors: true };
if (way === "stdio") serve(await connect(parentTransport()));
else if (way === "serve") {
  const server = await serveWebSockets({}, async (transport) => serve(await connect(transport, whole)));
  console.log(`${server.url}\n${server.token}`);
} else {
  const endpoint = await connect(webSocketTransport(url, { token, WebSocket }), whole);
  serve(endpoint);
  await endpoint.closed;
}
