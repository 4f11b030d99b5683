// SPDX-License-Identifier: MIT OR Apache-2.0
// As its README's section on MessagePorts does: a channel of its own, one end sent over, a target class.
import { parentPort } from "node:worker_threads";
import { newMessagePortRpcSession, RpcTarget } from "capnweb";

class Doubler extends RpcTarget {
  double(value) {
    return value * 2;
  }
}

parentPort.once("message", (port) => newMessagePortRpcSession(port, new Doubler()));
