// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's task with a connection that its server closes soon. The worker checks the connection after 10 ms without use, because the
// server closes it after 25 ms. The default would be a second.
import { expose, resource, withResources } from "clearway/worker";
import { EchoConnection } from "../isolate/echo-client.js";
import type { PoolTask } from "../isolate/pool-task.js";

const leased = withResources({
  echo: resource({
    // A resource is opened without arguments. The mechanism sets the port in the environment, which workers inherit.
    open: () => EchoConnection.open(Number(process.env["CLEARWAY_LAB_ECHO_PORT"])),
    check: (connection) => connection.open,
    close: (connection) => connection.close(),
    checkAfterMs: 10,
  }),
});

export default expose({ ask: leased(({ echo }, task: PoolTask): Promise<number> => echo.ask(task.value)) });
