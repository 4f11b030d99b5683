// SPDX-License-Identifier: MIT OR Apache-2.0
// #region child
import { connect } from "clearway/channel";
import { parentTransport } from "clearway/channel/stdio";
import { serveThermometer } from "./thermometer.js";

const endpoint = await connect(parentTransport());
serveThermometer(endpoint);
console.error("the sensor is ready"); // not console.log, because the channel uses stdout
// #endregion child
