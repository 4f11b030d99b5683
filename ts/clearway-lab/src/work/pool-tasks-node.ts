// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's task with a connection: the connection is a resource that each call leases.
import { expose, resource, withResources } from "clearway/worker";
import { EchoConnection } from "../isolate/echo-client.js";
import type { PoolTask } from "../isolate/pool-task.js";
import { runPoolTask } from "../isolate/pool-work-node.js";

const leased = withResources({
  echo: resource({
    // A resource is opened without arguments. The runner sets the port in the environment, which workers inherit.
    open: () => EchoConnection.open(Number(process.env["CLEARWAY_LAB_ECHO_PORT"])),
    check: (connection) => connection.open,
    close: (connection) => connection.close(),
  }),
});

export default expose({
  run: (task: PoolTask): Promise<number> => runPoolTask(task),
  askHeld: leased(({ echo }, task: PoolTask): Promise<number> => {
    if (task.crash) process.exit(1);
    return echo.ask(task.value);
  }),
});
