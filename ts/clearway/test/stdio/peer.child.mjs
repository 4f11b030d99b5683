// SPDX-License-Identifier: MIT OR Apache-2.0
// A child process at the other end of a channel. Its first argument selects what it does.
import { writeSync } from "node:fs";
import { parentTransport } from "clearway/channel/stdio";

const echo = () => {
  const transport = parentTransport();
  transport.open({
    frame: (frame) => transport.send(frame),
    drained() {},
    // The test reads this from stderr.
    closed: ({ code, message }) => console.error(`closed: ${code}: ${message}`),
  });
  return transport;
};

const ways = {
  echo,
  ready: () => echo().send(new Uint8Array([1])),
  "say goodbye": () => {
    const transport = echo();
    transport.send(new Uint8Array([1]));
    transport.close({ code: "failed", message: "no work left", detail: { jobs: 0 } });
  },
  print: () => {
    echo().send(new Uint8Array([1]));
    console.log("3 files compiled");
  },
  announce: () => writeSync(1, Buffer.from("4357010000000080", "hex")),
  "exit 3": () => {
    echo().send(new Uint8Array([1]));
    process.exit(3);
  },
  "half a frame": () => {
    writeSync(1, Buffer.from("435701000400000001", "hex"));
    process.exit(0);
  },
  "deaf and dumb": () => setInterval(() => {}, 1000),
};

ways[process.argv[2]]();
