// SPDX-License-Identifier: MIT OR Apache-2.0
// #region parent
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { connect } from "clearway/channel";
import { childTransport } from "clearway/channel/stdio";
import { Thermometer } from "./thermometer.js";

const program = fileURLToPath(new URL("./sensor.child.js", import.meta.url));
const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
const endpoint = await connect(childTransport(child));
const thermometer = Thermometer.caller(endpoint);

console.log(await thermometer.call.level({ unit: "celsius" }, { deadlineMs: 5_000 }));
for await (const { level } of thermometer.listen.changed(1_000_000)) {
  console.log(level);
  if (level === 2) break; // ends the stream, and the child's generator
}
// #endregion parent

// #region refused
try {
  await thermometer.call.level({ unit: /** @type {"celsius"} */ ("fahrenheit") });
} catch (error) {
  console.log(/** @type {Error} */ (error).message);
}
// #endregion refused

// #region died
child.kill("SIGKILL");
const { code, message } = await endpoint.closed;
console.log(code, "-", message);
// #endregion died
