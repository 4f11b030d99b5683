// SPDX-License-Identifier: MIT OR Apache-2.0
// Follows the section on MessagePorts in capnweb's README: a separate channel whose second end is sent to the worker, and a class.
import { parentPort } from "node:worker_threads";
import { newMessagePortRpcSession, RpcTarget } from "capnweb";

class Doubler extends RpcTarget {
  double(value) {
    return value * 2;
  }
}

parentPort.once("message", (port) => newMessagePortRpcSession(port, new Doubler()));
