// SPDX-License-Identifier: MIT OR Apache-2.0
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { channelTransportContract } from "./contract.js";

channelTransportContract("memory", (wanted) => {
  const [a, b] = memoryPair(wanted);
  return { a, b };
});
